/** What the reads are measured on: the real indexer and api on a seeded chain, and a bare server beside them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { anvilAccount } from "../lib/chain/client.ts";
import { type StackSettings, serviceReady, startService } from "../scripts/dev/services.ts";
import { startAnvil } from "../scripts/local/anvil.ts";
import { freePorts } from "../scripts/local/ports.ts";
import { startPostgres } from "../scripts/local/postgres.ts";
import { type Child, startProcess } from "../scripts/local/processes.ts";
import { deployProtocol } from "../scripts/local/protocol/deploy.ts";
import { seedHistory } from "../scripts/local/seed.ts";
import { waitFor } from "../scripts/local/wait.ts";

/** The time between two blocks of an Ethereum L2, in ms: each new block ends the life of what is kept. */
const BLOCK_MS = 2000;
const CHAIN_ID = 8453;
const DAY = 86_400;

export type ReadsStack = {
  readonly apiUrl: string;
  readonly graphqlUrl: string;
  readonly sql: Sql;
  /** The schema into which the indexer writes. */
  readonly schema: string;
  /** Unix seconds of the newest block. */
  readonly now: () => Promise<number>;
  /** Starts the bare server with these bytes, and hands its URL to `use`. */
  readonly withBare: <T>(body: string, use: (url: string) => Promise<T>) => Promise<T>;
  /** Mines no blocks meanwhile. */
  readonly quietly: <T>(work: () => Promise<T>) => Promise<T>;
  readonly stop: () => Promise<void>;
};

async function mine(rpcUrl: string): Promise<void> {
  await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_mine", params: [] }),
  });
}

export async function startReadsStack(): Promise<ReadsStack> {
  const folder = mkdtempSync(join(tmpdir(), "bench-reads-"));
  const [postgresPort = 0, anvilPort = 0, apiPort = 0, ponderPort = 0, metricsPort = 0, barePort = 0] =
    await freePorts(6);
  const stops: (() => Promise<unknown>)[] = [];
  const server = await startPostgres({
    dataDir: join(folder, "postgres"),
    port: postgresPort,
    logFile: join(folder, "postgres.log"),
    settings: { max_wal_size: "2GB" },
  });
  stops.push(() => server.remove());
  const anvil = await startAnvil({
    chainId: CHAIN_ID,
    port: anvilPort,
    logFile: join(folder, "anvil.log"),
    timestamp: BigInt(Math.floor(Date.now() / 1000) - 800 * DAY),
  });
  stops.push(() => anvil.stop());
  const [owner, relayer] = [anvilAccount(0), anvilAccount(1)];
  const deployment = await deployProtocol({
    rpcUrl: anvil.url,
    chainId: CHAIN_ID,
    name: "Bench",
    owner,
    relayers: [relayer.address],
    local: true,
    retired: false,
  });
  await seedHistory({ rpcUrl: anvil.url, deployment });
  const deploymentFile = join(folder, "deployment.json");
  writeFileSync(deploymentFile, JSON.stringify(deployment));

  const settings: StackSettings = {
    databaseUrl: server.url,
    rpcUrl: anvil.url,
    rpcWsUrl: anvil.wsUrl,
    deploymentFile,
    redisUrl: undefined,
    host: "127.0.0.1",
    apiPort,
    ponderPort,
    metricsPort,
    adminToken: "bench-admin-token",
    relayerKeys: [],
    logLevel: "info",
    more: { api: { PUBLIC_RATE_LIMIT: "1000000000" } },
  };
  for (const name of ["indexer", "api"] as const) {
    const child = await startService(name, settings, folder);
    stops.push(() => child.stop({ signal: name === "indexer" ? "SIGINT" : "SIGTERM" }));
    await serviceReady(child, name, settings);
  }
  const sql = postgres(server.url, { max: 1, onnotice: () => {} });
  stops.push(() => sql.end());
  const schema = await waitFor({
    what: "the views",
    probe: async () => {
      const rows = await sql<{ name: string }[]>`
        select distinct table_schema as name from information_schema.view_table_usage
        where view_schema = 'indexer' and table_schema <> 'indexer'`;
      return rows[0]?.name;
    },
    timeoutMs: 30_000,
  });
  let mining = true;
  const miner = setInterval(() => {
    if (mining) void mine(anvil.url).catch(() => {});
  }, BLOCK_MS);
  stops.push(async () => clearInterval(miner));

  return {
    apiUrl: `http://127.0.0.1:${apiPort}`,
    graphqlUrl: `http://127.0.0.1:${ponderPort}`,
    sql,
    schema,
    now: () =>
      waitFor({
        what: "the indexed head",
        probe: async () => {
          const [row] = await sql<{ timestamp: string }[]>`select timestamp::text from indexer.head`;
          return row && Number(row.timestamp);
        },
        timeoutMs: 30_000,
      }),
    async withBare(body, use) {
      const file = join(folder, "body.json");
      writeFileSync(file, body);
      const bare: Child = await startProcess({
        name: "bare server",
        command: process.execPath,
        args: ["--import", "tsx", "bench/bare-server.ts", String(barePort), file],
        logFile: join(folder, "bare.log"),
      });
      const url = `http://127.0.0.1:${barePort}`;
      try {
        await waitFor({
          what: "the bare server",
          probe: async () => (await fetch(url)).ok || undefined,
          timeoutMs: 20_000,
        });
        return await use(url);
      } finally {
        await bare.stop();
      }
    },
    async quietly(work) {
      mining = false;
      try {
        return await work();
      } finally {
        mining = true;
      }
    },
    async stop() {
      for (const stop of stops.toReversed()) await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
