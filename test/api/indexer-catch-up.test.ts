/**
 * A restarted indexer reads missed blocks without recording each block; on a quiet chain it can stay in that state.
 * What this proves: meanwhile no response, from the tables or the cache, states a block that its rows do not match.
 */
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { burnTokens, openProtocol, type Protocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { chapters, historyContext } from "../src/support/history.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { failure } from "./support/api.ts";

let api: { chain: TestChain; protocol: Protocol; stack: Stack; request: CheckedRequest };
beforeAll(async () => {
  const chain = await startChain({ retired: false });
  // Over a WebSocket Ponder only sees new blocks: on a quiet chain it stays where its catch-up ended.
  const env = { indexer: { RPC_WS_URL: chain.wsUrl } };
  const stack = await startStack({ chain, services: ["api", "indexer"], env });
  const request = await checkedRequests(stack.apiUrl);
  api = { chain, stack, request, protocol: openProtocol(chain.deployment, chain.url) };
  for (const chapter of chapters) await chapter.play(historyContext(chain));
});

const burns = z.object({ burns_count: z.number() });
const health = z.object({ status: z.string(), condition: z.string(), lastSyncedBlock: z.string() });
const readHealth = async () => health.parse((await api.request("/api/v1/indexer/health")).json);

/** Mines meanwhile: Ponder reads the last blocks of its catch-up only once it is notified of another. */
async function waitForIndex(): Promise<void> {
  const { client } = api.chain;
  const newest = await client.getBlockNumber();
  await waitFor({
    what: `the index to reach block ${newest}`,
    probe: async () => {
      const { headers } = await api.request("/api/v1/stats/burns");
      if (BigInt(headers.get("x-indexed-block") ?? -1) >= newest) return true;
      await client.mine({ blocks: 1 });
      return undefined;
    },
    intervalMs: 1000,
  });
}

test("reads get 503 until all rows match one block, and the health reports the backfill", async () => {
  await waitForIndex();
  const before = burns.parse((await api.request("/api/v1/stats/burns")).json).burns_count;
  await api.stack.kill9("indexer");
  for (let n = 0; n < 50; n += 1) await burnTokens(api.protocol, api.chain.owner, 1n);
  // The indexed rows still match their block, so reads succeed.
  expect(burns.parse((await api.request("/api/v1/stats/burns?n=1")).json).burns_count).toBe(before);

  await api.stack.start("indexer");
  await waitFor({
    what: "the index to read the missed blocks",
    probe: async () => ((await readHealth()).status === "syncing" ? true : undefined),
  });
  expect(await readHealth()).toMatchObject({ status: "syncing", condition: "backfilling" });
  for (const path of ["/api/v1/stats/burns", "/api/v1/stats/burns?n=2", "/api/v1/stats/activity"]) {
    expect(failure(await api.request(path)), path).toEqual([503, "indexer_syncing"]);
  }

  await waitForIndex();
  for (const path of ["/api/v1/stats/burns", "/api/v1/stats/burns?n=3"]) {
    expect(burns.parse((await api.request(path)).json).burns_count, path).toBe(before + 50);
  }
  expect(await readHealth()).toMatchObject({ status: "synced" });
}, 300_000);
