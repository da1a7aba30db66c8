/**
 * The statistics of each part of the protocol, compared with the contracts' logs and views at the same block: on an empty
 * chain, and after each chapter of a history with every event.
 */
import { afterAll, beforeAll, test } from "vitest";
import { readChainState } from "../model/support/chain-state.ts";
import { expectStats } from "../model/support/stats-endpoints.ts";
import { chapters, historyContext, trade } from "../src/support/history.ts";
import { openRows, type Rows } from "../src/support/rows.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { startApi, type TestApi } from "./support/api.ts";

let api: TestApi;
let rows: Rows;
beforeAll(async () => {
  api = await startApi({ services: ["api", "indexer"], chainOptions: { retired: false } });
  rows = openRows(api.stack.databaseUrl);
});
afterAll(() => rows?.close());

async function expectChain(): Promise<void> {
  await rows.caughtUp(api.chain.client);
  await expectStats(api.request, await readChainState(api.chain));
}

test("before the first event every answer has zeros and nulls", expectChain);

for (const chapter of chapters) {
  test(`after the chapter "${chapter.name}" every answer matches the chain`, async () => {
    await chapter.play(historyContext(api.chain));
    await expectChain();
  });
}

test("after trade, and after a reorganisation that takes it back, every answer matches the chain", async () => {
  await trade(historyContext(api.chain));
  await expectChain();
  await askRpc(api.chain.url, "anvil_reorg", [5, []]);
  await api.chain.client.mine({ blocks: 1 });
  await expectChain();
});
