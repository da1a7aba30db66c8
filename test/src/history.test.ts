/**
 * Proves that after a history with every event the rows match the chain's logs and views, also after crashes of the indexer
 * and reorganisations.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { snapshot } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { revertTo } from "../support/protocol-actions.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { startChangedIndexer, waitForOtherSchema } from "./support/changed-build.ts";
import { expectRowsMatchChain } from "./support/compare-with-chain.ts";
import { chapters, historyContext, trade } from "./support/history.ts";
import { knownEvents } from "./support/logs.ts";
import { openRows, type Rows, servedSchema, tableNames } from "./support/rows.ts";

type Index = { readonly stack: Stack; readonly rows: Rows };

let chain: TestChain;
/** Indexes the chain from its first block, through all faults. */
let live: Index;
/** Starts after the history and is not disturbed. */
let undisturbed: Index;

async function startIndex(): Promise<Index> {
  const stack = await startStack({ chain, services: ["indexer"] });
  return { stack, rows: openRows(stack.databaseUrl) };
}

/** Waits for both indexes; before a reorganisation too, or Ponder retries for a minute to read the logs of a lost block. */
const bothCaughtUp = () => Promise.all([live, undisturbed].map(({ rows }) => rows.caughtUp(chain.client)));

/** Expects both indexes to have the chain's rows. */
async function expectSameRows(): Promise<void> {
  await bothCaughtUp();
  await expectRowsMatchChain(live.rows, chain);
  expect(await live.rows.everything()).toEqual(await undisturbed.rows.everything());
}

beforeAll(async () => {
  chain = await startChain({ retired: false });
  live = await startIndex();
});
afterAll(() => Promise.all([live?.rows.close(), undisturbed?.rows.close()]));

test("a live index matches the chain's logs, views and sums", async () => {
  for (const chapter of chapters) await chapter.play(historyContext(chain));
  await live.rows.caughtUp(chain.client);
  const events = await expectRowsMatchChain(live.rows, chain);
  const seen = new Set(events.map(({ name }) => name));
  expect(knownEvents.filter((name) => !seen.has(name))).toEqual([]);
  // No key of a policy comes twice while the manager stays the same.
  for (const table of tableNames.filter((name) => name !== "replaced_policy")) {
    expect(await live.rows.rows(table), `${table} is empty`).not.toEqual([]);
  }
});

test("an index that starts after the history has the same rows", async () => {
  undisturbed = await startIndex();
  await expectSameRows();
});

test("after a kill -9 during trade the rows equal those of an undisturbed index", async () => {
  const before = await chain.client.getBlockNumber();
  let killed = false;
  const trading = (async () => {
    for (let round = 0; round < 4 || !killed; round++) await trade(historyContext(chain));
  })();
  trading.catch(() => {}); // waited for below
  await waitFor({
    what: "the index to contain part of the trade",
    probe: async () => {
      const [head] = await live.rows.rows("head");
      return Number(head?.number) > Number(before) || undefined;
    },
    intervalMs: 10,
  });
  await live.stack.kill9("indexer");
  killed = true;
  await trading;
  await live.stack.start("indexer");
  await expectSameRows();
});

test("a reorganisation reverts rows, sums and states of its blocks", async () => {
  const before = await live.rows.everything();
  for (const depth of [1, 6]) {
    await trade(historyContext(chain));
    await bothCaughtUp();
    await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
      method: "anvil_reorg",
      params: [depth, []],
    });
    await expectSameRows();
  }
  await trade(historyContext(chain));
  await expectSameRows();
  expect(await live.rows.everything()).not.toEqual(before);
});

test("after the chain reverts to a snapshot, all rows are as before", async () => {
  const { protocol } = historyContext(chain);
  const before = await live.rows.everything();
  const id = await snapshot(protocol);
  await trade(historyContext(chain));
  await trade(historyContext(chain));
  await bothCaughtUp();
  await revertTo(protocol, id);
  await chain.client.mine({ blocks: 1 });
  await expectSameRows();
  expect({ ...(await live.rows.everything()), head: [] }).toEqual({ ...before, head: [] });
});

test("a changed projection indexes into a new schema, and the views switch to it", async () => {
  await undisturbed.stack.stop(); // to leave both cores to the other two indexers
  const before = await live.rows.everything();
  const old = await servedSchema(live.rows.sql);
  await waitForOtherSchema(live.rows.sql, old, { indexer: await startChangedIndexer(live.stack) });
  await live.rows.caughtUp(chain.client);
  expect(await live.rows.everything()).toEqual(before);
  await trade(historyContext(chain));
  await live.rows.caughtUp(chain.client);
  await expectRowsMatchChain(live.rows, chain);
});
