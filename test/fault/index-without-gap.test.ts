/**
 * The indexer is restarted or killed, or the chain is reorganised, while 50 requests a second read the index; `redeployed-indexer`
 * replaces it by another build. What this proves: each answer has the rows of its block, no block is older than one that was answered
 * before but for a reorganisation, and there is no error.
 */
import postgres from "postgres";
import { afterEach, beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { buyers, chapters, historyContext, trade } from "../src/support/history.ts";
import { mineOnlyTransactions, startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { expectAnswers, type IndexLoad, startIndexLoad } from "./support/index-reads.ts";
import { type Fork, readFork } from "./support/index-truth.ts";

const buyer = buyers[2]?.address ?? "";

let chain: TestChain;
let server: OwnPostgres;
let stack: Stack;
let sql: postgres.Sql;
let load: IndexLoad;

beforeAll(async () => {
  chain = await startChain({ retired: false, blockTime: 2, mixedMining: true });
  for (const chapter of chapters) await chapter.play(historyContext(chain));
  server = await startOwnPostgres("gap");
  stack = await startStack({ chain, services: ["api", "indexer"], databaseUrl: server.databaseUrl });
  sql = postgres(stack.databaseUrl, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
});

/** Begins to read, and waits until reads see the chain's newest block. */
async function startReading(): Promise<void> {
  await expect.poll(async () => (await stack.request("/api/v1/stats/burns")).status).toBe(200);
  load = startIndexLoad(stack.apiUrl, buyer);
  await load.reached(await chain.client.getBlockNumber());
}
afterEach(() => load.stop());

const isCatchingUp = async (): Promise<boolean> => {
  const rows = await sql`select 1 from service.indexer_deployment where catching_up and snapshot is not null`;
  return rows.length > 0;
};

/** Restarts the indexer until its launcher is seen with the snapshot, which it holds for two or three seconds. */
const restartUntilCatchingUp = () =>
  waitFor({
    what: "the launcher to hold the snapshot",
    probe: async () => {
      await stack.restart("indexer", { wait: false });
      return waitFor({
        what: "the start of the indexer",
        probe: async () => (await isCatchingUp()) || undefined,
        timeoutMs: 40_000,
        intervalMs: 20,
      });
    },
  });

/** Trades, and waits until reads show it; by then the indexer has caught up. */
async function tradeOn(): Promise<void> {
  await trade(historyContext(chain));
  await load.reached(await chain.client.getBlockNumber());
}

const expectNoGap = async (forks: readonly Fork[] = []) =>
  expectAnswers(await load.stop(), [...forks, await readFork(chain)]);

/** The indexes of the build's tables; one that was dropped and built anew has another number. */
const indexes = () => sql`
  select i.indexrelid::int as number, i.indexrelid::regclass::text as name
  from pg_index i join pg_class t on t.oid = i.indrelid
  where t.relnamespace::regnamespace::text like 'idx_%' order by 1`;

test("the indexer is stopped and started, with the same indexes", async () => {
  await startReading();
  await tradeOn();
  const before = await indexes();
  await stack.stopService("indexer");
  await trade(historyContext(chain));
  const answers = load.seen().answers;
  await stack.start("indexer");
  await tradeOn();
  expect(load.seen().answers).toBeGreaterThan(answers);
  await expectNoGap();
  await expect.poll(isCatchingUp).toBe(false);
  expect(before.length).toBeGreaterThan(50);
  expect(await indexes()).toEqual(before);
});

test("the indexer is killed while it indexes, and started", async () => {
  await startReading();
  const trading = trade(historyContext(chain));
  await stack.kill9("indexer");
  await trading;
  await stack.start("indexer");
  await tradeOn();
  await expectNoGap();
});

test("a launcher is killed while it holds the snapshot: no wrong answer, and after the next start the newest block", async () => {
  await startReading();
  await restartUntilCatchingUp();
  await stack.kill9("indexer");
  await trade(historyContext(chain));
  await stack.start("indexer");
  await tradeOn();
  expectAnswers(await load.stop(), [await readFork(chain)], { mayRefuse: ["indexer_syncing"] });
});

test("Postgres is restarted while the launcher holds the snapshot: no wrong answer, and then the newest block", async () => {
  await startReading();
  await restartUntilCatchingUp();
  // An indexer that has not yet read its own schema ends without Postgres; its supervisor starts it again.
  const child = stack.running("indexer");
  void child?.exited.then(() => {
    if (stack.running("indexer") === child) return stack.restart("indexer", { wait: false });
  });
  await server.stop();
  await server.start();
  await tradeOn();
  expectAnswers(await load.stop(), [await readFork(chain)], {
    mayRefuse: ["indexer_syncing", "database_unavailable"],
  });
});

/** Replaces the newest blocks by empty ones, and trades on them. @returns the newest block */
async function replaceBlocks(depth: number): Promise<bigint> {
  await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, []]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [depth, []],
  });
  await trade(historyContext(chain));
  return chain.client.getBlockNumber();
}

test("the chain is reorganised", async () => {
  await mineOnlyTransactions(chain); // no block comes between the reading of a fork and its end
  const forks: Fork[] = [];
  await startReading();
  for (const depth of [1, 3, 10]) {
    await tradeOn();
    forks.push(await readFork(chain));
    await load.reorganise(() => replaceBlocks(depth));
  }
  await expectNoGap(forks);
});
