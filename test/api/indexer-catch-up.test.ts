/**
 * A restarted indexer takes its newest blocks back, and reads those that it has missed without recording each block; on a quiet
 * chain it can stay in that state. What this proves: meanwhile each response, from the tables or the cache, is that of the last
 * block before, and without its snapshot there is none: no response states a block that its rows do not match.
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
  const stack = await startStack({
    chain,
    services: ["api", "indexer"],
    env: { indexer: { RPC_WS_URL: chain.wsUrl, INDEX_MAX_AGE: "86400" } },
  });
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
    what: `the health to say that the index has block ${newest} and is in step`,
    probe: async () => {
      const { status, lastSyncedBlock } = await readHealth();
      if (status === "synced" && BigInt(lastSyncedBlock) >= newest) return true;
      await client.mine({ blocks: 1 });
      return undefined;
    },
    intervalMs: 250,
  });
}

/**
 * Kills the indexer and burns while it is away: the new one, with the settings of `stack`, reads the burns and does not record
 * their blocks.
 */
async function restartBehind(stack = api.stack): Promise<{ count: number; block: string | null }> {
  await api.stack.kill9("indexer");
  const { json, headers } = await api.request("/api/v1/stats/burns");
  for (let n = 0; n < 50; n += 1) await burnTokens(api.protocol, api.chain.owner, 1n);
  await stack.start("indexer");
  return { count: burns.parse(json).burns_count, block: headers.get("x-indexed-block") };
}

test("after a restart reads are those of the last block before, until all rows match a newer one", async () => {
  await waitForIndex();
  const { count, block } = await restartBehind();
  await expect
    .poll(readHealth)
    .toMatchObject({ status: "lagging", condition: "catching_up", lastSyncedBlock: block });
  for (const path of ["/api/v1/stats/burns", "/api/v1/stats/burns?&&", "/api/v1/stats/activity"]) {
    const { status, headers } = await api.request(path);
    expect([status, headers.get("x-indexed-block")], path).toEqual([200, block]);
  }
  expect(burns.parse((await api.request("/api/v1/stats/burns?&")).json).burns_count).toBe(count);

  await waitForIndex();
  for (const path of ["/api/v1/stats/burns", "/api/v1/stats/burns?&&&"]) {
    expect(burns.parse((await api.request(path)).json).burns_count, path).toBe(count + 50);
  }
}, 300_000);

test("after INDEX_MAX_AGE reads get 503 until all rows match one block, and the health reports the backfill", async () => {
  await waitForIndex();
  const { chain, stack } = api;
  const hasty = await startStack({
    chain,
    databaseUrl: stack.databaseUrl,
    services: [],
    env: { indexer: { RPC_WS_URL: chain.wsUrl, INDEX_MAX_AGE: "2" } },
  });
  const { count } = await restartBehind(hasty);
  await expect.poll(readHealth).toMatchObject({ status: "syncing", condition: "backfilling" });
  for (const path of ["/api/v1/stats/burns", "/api/v1/stats/burns?&&", "/api/v1/stats/activity"]) {
    expect(failure(await api.request(path)), path).toEqual([503, "indexer_syncing"]);
  }
  // A start in this state has no block to show.
  await hasty.kill9("indexer");
  await api.stack.start("indexer");
  expect(failure(await api.request("/api/v1/stats/burns"))).toEqual([503, "indexer_syncing"]);

  await waitForIndex();
  expect(burns.parse((await api.request("/api/v1/stats/burns")).json).burns_count).toBe(count + 50);
}, 300_000);
