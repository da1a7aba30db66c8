// The image's health check: ends with code 0 when a process of the service answers on its internal address.
// `node scripts/healthy.mjs writer`; without a name, for the process that the container was started with.
import { readFileSync } from "node:fs";

/** Docker waits five seconds. */
const TIMEOUT_MS = 4_000;

/** An empty variable counts as unset, as for the processes. */
const port = (name, standard) => process.env[name] || standard;
const addresses = {
  api: () => `:${port("PORT", 8080)}/health`,
  indexer: () => `:${port("PONDER_PORT", 42069)}/health`,
  writer: () => `:${port("METRICS_PORT", 9464)}/metrics`,
};

/** The last argument of the container's first process: `node scripts/start.mjs api`. */
const started = () => readFileSync("/proc/1/cmdline", "utf8").split("\0").filter(Boolean).at(-1);

const name = process.argv[2] ?? started();
if (!Object.hasOwn(addresses, name)) {
  console.error(`${name}: must be ${Object.keys(addresses).join(", ")}`);
  process.exit(2);
}
try {
  const response = await fetch(`http://127.0.0.1${addresses[name]()}`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`it answers ${response.status}`);
} catch (error) {
  console.error(`${name}: ${error.message}`);
  process.exitCode = 1;
}
