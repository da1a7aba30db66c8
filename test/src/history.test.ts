/**
 * What this proves: over a history that reaches every event, the rows are those of the chain's own logs and views; and
 * they are the same rows whatever befell the index on the way.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { revertTo, snapshot } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { expectAgreement } from "./support/agreement.ts";
import { startChangedIndexer } from "./support/changed-build.ts";
import { chapters, storyOn, trade } from "./support/history.ts";
import { knownEvents } from "./support/logs.ts";
import { openRows, type Rows, tableNames } from "./support/rows.ts";

/** Ponder loads in two seconds alone, and takes far longer while other tests have both cores. */
const slowStartMs = 180_000;

type Index = { readonly stack: Stack; readonly rows: Rows };

let chain: TestChain;
/** Follows the chain from its first block, and is the one that things happen to. */
let live: Index;
/** Starts late, reads the history, and is left in peace from then on. */
let calm: Index;

async function startIndex(): Promise<Index> {
  const stack = await startStack({ chain, services: ["indexer"] });
  return { stack, rows: openRows(stack.databaseUrl) };
}

/** Both indexes hold the same rows, those of the chain. */
async function expectSameRows(): Promise<void> {
  await Promise.all([live.rows.caughtUp(chain.client), calm.rows.caughtUp(chain.client)]);
  await expectAgreement(live.rows, chain);
  expect(await live.rows.everything()).toEqual(await calm.rows.everything());
}

beforeAll(async () => {
  chain = await startChain({ retired: false });
  live = await startIndex();
});
afterAll(() => Promise.all([live?.rows.close(), calm?.rows.close()]));

test("an index that follows the chain agrees with its logs, its views and their sums", async () => {
  for (const chapter of chapters) await chapter.play(storyOn(chain));
  await live.rows.caughtUp(chain.client);
  const events = await expectAgreement(live.rows, chain);
  const seen = new Set(events.map(({ name }) => name));
  expect(knownEvents.filter((name) => !seen.has(name))).toEqual([]);
  for (const table of tableNames) {
    expect(await live.rows.rows(table), `${table} is empty`).not.toEqual([]);
  }
});

test("an index that reads the history afterwards has the very same rows", async () => {
  calm = await startIndex();
  await expectSameRows();
});

test("kill -9 in the middle of trade leaves the rows of an undisturbed index", async () => {
  const before = await chain.client.getBlockNumber();
  let dead = false;
  const trading = (async () => {
    for (let round = 0; round < 4 || !dead; round++) await trade(storyOn(chain));
  })();
  trading.catch(() => {}); // waited for below
  await waitFor({
    what: "the index to have some of the trade",
    probe: async () => {
      const [head] = await live.rows.rows("head");
      return Number(head?.number) > Number(before) || undefined;
    },
    timeoutMs: 60_000,
    intervalMs: 10,
  });
  await live.stack.kill9("indexer");
  dead = true;
  await trading;
  await live.stack.start("indexer");
  await expectSameRows();
});

test("a reorganisation takes back what its blocks held, also in sums and states", async () => {
  const before = await live.rows.everything();
  for (const depth of [1, 6]) {
    await trade(storyOn(chain));
    await live.rows.caughtUp(chain.client);
    await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
      method: "anvil_reorg",
      params: [depth, []],
    });
    await expectSameRows();
  }
  await trade(storyOn(chain));
  await expectSameRows();
  expect(await live.rows.everything()).not.toEqual(before);
});

test("a chain that goes back to a snapshot takes the index with it, and everything is as it was", async () => {
  const { protocol } = storyOn(chain);
  const before = await live.rows.everything();
  const id = await snapshot(protocol);
  await trade(storyOn(chain));
  await trade(storyOn(chain));
  await live.rows.caughtUp(chain.client);
  await revertTo(protocol, id);
  await chain.client.mine({ blocks: 1 });
  await expectSameRows();
  expect({ ...(await live.rows.everything()), head: [] }).toEqual({ ...before, head: [] });
});

test(
  "a changed projection reads the chain into a schema of its own, and the views move over to it",
  async () => {
    await calm.stack.stop(); // two cores: the swap is between the other two
    const before = await live.rows.everything();
    const schemas = () => live.rows.sql<{ schema_name: string }[]>`
    select distinct table_schema as schema_name from information_schema.view_table_usage
    where view_schema = 'indexer' and table_schema <> 'indexer'`;
    const [old, ...more] = await schemas();
    expect(more).toEqual([]);
    await startChangedIndexer(live.stack);
    await waitFor({
      what: "the views to show the new schema",
      probe: async () => {
        const [now] = await schemas();
        return now && now.schema_name !== old?.schema_name ? true : undefined;
      },
      timeoutMs: slowStartMs,
    });
    await live.rows.caughtUp(chain.client);
    expect(await live.rows.everything()).toEqual(before);
    await trade(storyOn(chain));
    await live.rows.caughtUp(chain.client);
    await expectAgreement(live.rows, chain);
  },
  2 * slowStartMs,
);
