/** `npm run bench [name …]` runs the named benchmarks, or all of them, and says which limits of docs/performance.md were missed. */
import { execFileSync } from "node:child_process";
import { buildServices } from "../scripts/build.ts";
import { compile } from "../scripts/compile.ts";
import { commandLine, isRunning } from "../scripts/local/pids.ts";
import { benchDev } from "./dev.ts";
import { benchIndex } from "./indexing.ts";
import { benchKeeper } from "./keeper.ts";
import { benchPurchases } from "./purchases.ts";
import { benchReads } from "./reads.ts";
import { missed } from "./report.ts";
import { benchRpc } from "./rpc.ts";
import { endStack } from "./stack.ts";
import { benchWebhooks } from "./webhooks.ts";

const benchmarks: Readonly<Record<string, () => Promise<void>>> = {
  dev: benchDev,
  index: benchIndex,
  reads: benchReads,
  purchases: benchPurchases,
  webhooks: benchWebhooks,
  keeper: benchKeeper,
  rpc: benchRpc,
};

/** Stops what the running benchmark has started, and this process. */
async function end(exitCode: number): Promise<never> {
  await endStack();
  process.exit(exitCode);
}

/** Ends the run by signal, and when `run.mjs`, npm or npm's shell is killed, so that no process of a stack stays behind. */
function endWithParents(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void end(130));
  const parents: number[] = [];
  for (let pid = process.ppid; commandLine(pid)?.includes("bench"); ) {
    parents.push(pid);
    pid = Number(execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }));
  }
  setInterval(() => {
    if (!parents.every(isRunning)) void end(1);
  }, 1000).unref();
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) {
  console.error(
    `unknown benchmark ${unknown.join(", ")}; the benchmarks are: ${Object.keys(benchmarks).join(", ")}`,
  );
  process.exit(1);
}
endWithParents();
// Also those of a benchmark that is being stopped: its requests fail, because its processes are gone.
for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (error) => {
    console.error(error);
    void end(1);
  });
}
compile(); // a fresh clone has no bytecode to deploy
await buildServices();
for (const [name, run] of Object.entries(benchmarks)) {
  if (names.length === 0 || names.includes(name)) await run();
}
console.log(missed.length === 0 ? "\nall within their limits" : `\nmissed: ${missed.join("; ")}`);
