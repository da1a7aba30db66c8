/**
 * The index is read from a streaming standby of Postgres, at 50 requests a second, while the standby is paused, held up, killed,
 * cut off or promoted, and while the primary dies. What this proves: the standby answers whenever it can, each answer has the rows
 * of its block, no block is older than one that was answered before, and there is no error.
 */
import postgres from "postgres";
import { afterEach, beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { expectAnswers, type IndexLoad, startIndexLoad } from "../fault/support/index-reads.ts";
import { readFork } from "../fault/support/index-truth.ts";
import { buyers, chapters, historyContext, trade } from "../src/support/history.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { startStandby, type TestStandby } from "../support/standby.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { scrapeUntil } from "../workers/support/metrics.ts";

const buyer = buyers[2]?.address ?? "";

let chain: TestChain;
let server: OwnPostgres;
/** A session on the primary. */
let primary: postgres.Sql;
let standby: TestStandby;
let stack: Stack;
/** Another api, which reads from another standby behind a proxy. */
let other: { readonly standby: TestStandby; readonly proxy: TcpProxy; readonly stack: Stack };
let load: IndexLoad;

beforeAll(async () => {
  chain = await startChain({ retired: false });
  for (const chapter of chapters) await chapter.play(historyContext(chain));
  server = await startOwnPostgres("reads");
  const { databaseUrl } = server;
  primary = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  atEnd(() => primary.end({ timeout: 1 }));
  standby = await startStandby(databaseUrl);
  const second = await startStandby(databaseUrl);
  const proxy = await startTcpProxy(second.databaseUrl);
  const readFrom = (url: string) => ({ api: { DATABASE_READ_URL: url } });
  stack = await startStack({
    ...{ chain, databaseUrl, services: ["api", "indexer"] },
    env: readFrom(standby.databaseUrl),
  });
  const api = await startStack({ chain, databaseUrl, services: ["api"], env: readFrom(proxy.url) });
  other = { standby: second, proxy, stack: api };
});

/** Waits until reads of this api ask the standby first, or the primary. */
const waitForServer = (name: "standby" | "primary", { apiMetricsUrl }: Stack) =>
  scrapeUntil(
    apiMetricsUrl,
    `reads to go to the ${name}`,
    (samples) => samples.get("api_standby_used") === (name === "standby" ? 1 : 0),
  );

/** Begins to read from this api, and waits until reads see the chain's newest block, from the standby. */
async function startReading(api: Stack): Promise<void> {
  await expect.poll(async () => (await api.request("/api/v1/stats/burns")).status).toBe(200);
  load = startIndexLoad(api.apiUrl, buyer);
  await load.reached(await chain.client.getBlockNumber());
  await waitForServer("standby", api);
}
afterEach(() => load.stop());

/** Trades, and waits until reads show it. */
async function tradeOn(): Promise<void> {
  await trade(historyContext(chain));
  await load.reached(await chain.client.getBlockNumber());
}

const expectNoGap = async () => expectAnswers(await load.stop(), [await readFork(chain)]);

/** The newest block that a server has. */
async function headOn(sql: postgres.Sql): Promise<bigint> {
  const [head] = await sql<{ number: string }[]>`select number::text as number from indexer.head`;
  return BigInt(head?.number ?? -1);
}

async function mineIndexed(blocks: number): Promise<void> {
  await chain.client.mine({ blocks });
  const newest = await chain.client.getBlockNumber();
  await expect.poll(() => headOn(primary)).toBe(newest);
}

/**
 * Pauses the standby one block behind, and waits for an answer of its block: only the standby gives it. A busy machine can be too slow
 * for the api's comparison, and then the primary answers: the next try shows more. @returns the standby's block
 */
const readFromPaused = () =>
  waitFor({
    what: "an answer of a paused standby",
    probe: async () => {
      await waitForServer("standby", stack);
      await standby.pause();
      const block = await headOn(standby.sql);
      await mineIndexed(1);
      const { headers } = await stack.request("/api/v1/stats/burns");
      if (headers.get("x-indexed-block") === String(block)) return block;
      await standby.resume();
      return undefined;
    },
  });

test("the standby answers until it is more than two blocks behind, and again once it has caught up", async () => {
  await startReading(stack);
  const paused = await readFromPaused();
  await mineIndexed(2);
  await waitForServer("primary", stack);
  await load.reached(paused + 3n);
  await tradeOn();
  expect(await headOn(standby.sql)).toBe(paused);
  await standby.resume();
  await waitForServer("standby", stack);
  await tradeOn();
  await readFromPaused();
  await standby.resume();
  await expectNoGap();
});

/** Whether the standby cancels reads that hold up its replay at once, or after thirty seconds. */
async function cancelAtOnce(atOnce: boolean): Promise<void> {
  const delay = atOnce ? "0" : "30s";
  await standby.sql.unsafe(`alter system set max_standby_streaming_delay = '${delay}'`);
  await standby.sql`select pg_reload_conf()`;
}

/** Counts the reads that the standby has cancelled. */
async function cancelledReads(): Promise<number> {
  const [row] = await standby.sql<{ n: string }[]>`
    select confl_lock as n from pg_stat_database_conflicts where datname = current_database()`;
  return Number(row?.n);
}

test("reads that hold up the standby's replay are cancelled there: the primary answers them", async () => {
  await startReading(stack);
  const before = await cancelledReads();
  await cancelAtOnce(true);
  await waitFor({
    what: "the standby to cancel reads",
    probe: async () => {
      await primary.begin((tx) => tx`lock table indexer.head in access exclusive mode`);
      return (await cancelledReads()) >= before + 3 || undefined;
    },
    intervalMs: 5,
  });
  await cancelAtOnce(false);
  await tradeOn();
  await expectNoGap();
});

test("the standby is killed, and started again", async () => {
  await startReading(stack);
  await standby.kill();
  await waitForServer("primary", stack);
  await tradeOn();
  await standby.start();
  await waitForServer("standby", stack);
  await tradeOn();
  await expectNoGap();
});

test("the standby's host vanishes: reads that wait for it are answered by the primary", async () => {
  await startReading(other.stack);
  other.proxy.vanish();
  await waitForServer("primary", other.stack);
  await tradeOn();
  // New connections reach it.
  await waitForServer("standby", other.stack);
  await tradeOn();
  await expectNoGap();
});

test("the standby is promoted while the primary lives: it is read no more", async () => {
  await startReading(other.stack);
  await other.standby.sql`select pg_promote()`;
  await waitForServer("primary", other.stack);
  await tradeOn();
  await expectNoGap();
});

test("the primary dies, and the standby is promoted: reads go on with the last block", async () => {
  await startReading(stack);
  await mineIndexed(1);
  const last = await headOn(primary);
  await load.reached(last);
  await expect.poll(() => headOn(standby.sql)).toBe(last);
  await waitForServer("standby", stack);
  await stack.stopService("indexer");
  await server.kill();
  await standby.sql`select pg_promote()`;
  await expect
    .poll(async () => (await stack.request("/api/v1/stats/burns")).headers.get("x-indexed-block"))
    .toBe(String(last));
  const { answers } = load.seen();
  await expect.poll(() => load.seen().answers).toBeGreaterThan(answers + 200);
  const reads = await load.stop();
  expect(new Set(reads.slice(-100).map(({ status }) => status))).toEqual(new Set([200]));
  // A busy standby may have been slow to compare just then, and the primary was asked while it died.
  expectAnswers(reads, [await readFork(chain)], { mayRefuse: ["database_unavailable"] });
});
