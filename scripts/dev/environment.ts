import { freePorts } from "../local/ports.ts";

const ports = [
  "PORT",
  "ANVIL_PORT",
  "TESTNET_ANVIL_PORT",
  "POSTGRES_PORT",
  "PONDER_PORT",
  "METRICS_PORT",
  "API_METRICS_PORT",
];

/** Environment variables for a dev stack beside others: its own data folder, free ports, the embedded Postgres, no Redis. */
export async function separateEnvironment(dataDir: string): Promise<Record<string, string>> {
  const free = await freePorts(ports.length);
  const portOf = Object.fromEntries(ports.map((name, index) => [name, String(free[index])]));
  return { ...portOf, DATA_DIR: dataDir, DATABASE_URL: "", REDIS_URL: "" };
}
