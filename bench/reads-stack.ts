/** The stack for the reads benchmark: indexer and api on a seeded chain with regular blocks, and a bare server beside them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "postgres";
import { freePort } from "../scripts/local/ports.ts";
import { startProcess } from "../scripts/local/processes.ts";
import { seedHistory } from "../scripts/local/seed.ts";
import { waitFor } from "../scripts/local/wait.ts";
import type { BareAnswer } from "./bare-answer.ts";
import type { BenchStack } from "./bench-stack.ts";
import { takeOverMining } from "./miner.ts";

/** The time between two blocks of an Ethereum L2, in ms. Each new block invalidates the cached answers. */
const BLOCK_MS = 2000;

export type ReadsStack = {
  readonly apiUrl: string;
  readonly graphqlUrl: string;
  readonly sql: Sql;
  /** The schema into which the indexer writes. */
  readonly schema: string;
  /** Unix seconds of the newest indexed block. */
  readonly now: () => Promise<number>;
  /** Starts a bare server with this answer, runs `use` with its URL, and stops it. */
  readonly withBare: <T>(answer: BareAnswer, use: (url: string) => Promise<T>) => Promise<T>;
  /** Mines no blocks while `work` runs. */
  readonly withoutBlocks: <T>(work: () => Promise<T>) => Promise<T>;
};

export async function prepareReads(stack: BenchStack): Promise<ReadsStack> {
  const { chain, folder, sql, atEnd } = stack;
  await seedHistory({ rpcUrl: chain.url, deployment: chain.deployment });
  const { apiUrl, ponderUrl } = await stack.startServices(["indexer", "api"], {
    rpcWsUrl: chain.wsUrl,
    more: { api: { PUBLIC_RATE_LIMIT: "1000000000" } },
  });
  const schema = await waitFor({
    what: "the indexer's views",
    probe: async () => {
      const rows = await sql<{ name: string }[]>`
        select distinct table_schema as name from information_schema.view_table_usage
        where view_schema = 'indexer' and table_schema <> 'indexer'`;
      return rows[0]?.name;
    },
  });
  const { mine } = await takeOverMining(stack.protocol);
  let mining = true;
  const miner = setInterval(() => {
    if (mining) mine([]).catch(() => {});
  }, BLOCK_MS);
  atEnd(async () => clearInterval(miner));

  return {
    apiUrl,
    graphqlUrl: ponderUrl,
    sql,
    schema,
    now: () =>
      waitFor({
        what: "the indexed head",
        probe: async () => {
          const [row] = await sql<{ timestamp: string }[]>`select timestamp::text from indexer.head`;
          return row && Number(row.timestamp);
        },
      }),
    async withBare(answer, use) {
      const port = await freePort();
      const file = join(folder, `answer-${port}.json`);
      writeFileSync(file, JSON.stringify(answer));
      const bare = await startProcess({
        name: "bare server",
        command: process.execPath,
        args: ["--import", "tsx", "bench/bare-server.ts", String(port), file],
        logFile: join(folder, "bare.log"),
      });
      const url = `http://127.0.0.1:${port}`;
      try {
        await waitFor({ what: "the bare server", probe: async () => (await fetch(url)).ok || undefined });
        return await use(url);
      } finally {
        await bare.stop();
      }
    },
    async withoutBlocks(work) {
      mining = false;
      try {
        return await work();
      } finally {
        mining = true;
      }
    },
  };
}
