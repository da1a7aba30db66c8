/**
 * What this proves: statistics, triggers and the search stay true after events that are rare: a policy's key that comes again,
 * a listing that nobody bought, a sale of an unknown listing, a burn at a price of 0, and redemptions that wait for two
 * weeks.
 */
import { drizzle } from "drizzle-orm/postgres-js";
import { getAddress, type Hex, toFunctionSelector } from "viem";
import { beforeAll, expect, test } from "vitest";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { pageRows } from "../../api/indexed/feed.ts";
import { type PolicySearch, searchPolicies } from "../../api/policies/search-queries.ts";
import { readFrom } from "../../lib/indexed/views-schema.ts";
import { assetBytes32 } from "../../lib/products.ts";
import * as indexed from "../../ponder.schema.ts";
import { alice, bob, type EmittedLogs, emittedLogs, FLASHBTC1H } from "../src/support/emitted-logs.ts";
import { type EmitterChain, type Entry, entry, startEmitterChain } from "../src/support/emitter-chain.ts";
import { openRows, VIEWS_SCHEMA } from "../src/support/rows.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { answersCaughtUp } from "./support/caught-up.ts";

const EPOCH = 202_812n;

let chain: EmitterChain;
let logs: EmittedLogs;
let node: RpcProxy;
let stack: Stack;
let request: CheckedRequest;

beforeAll(async () => {
  chain = await startEmitterChain();
  logs = emittedLogs(chain);
  node = await startRpcProxy(chain.url);
  stack = await startStack({ chain, rpcUrl: node.url, services: ["indexer", "api"] });
  request = await checkedRequests(stack.apiUrl);
});

/** The answer once it describes the chain's newest block. */
async function read(path: string): Promise<unknown> {
  await answersCaughtUp({ chain, stack, request });
  const answer = await request(path);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

const sold = (productId: Hex, policyId: bigint, buyer = alice) =>
  [logs.created, logs.purchased].map((event) => event(productId, policyId, buyer));
const submitted = (policyId: bigint, submitter: Hex): Entry =>
  entry(chain.contracts.coverRouter, coverRouterAbi, "TriggerSubmitted", {
    ...{ productId: FLASHBTC1H, policyId, submitter },
  });

test("of two policies with one key each has its own verdict, and each submission is listed once", async () => {
  const evaluation = `/api/v1/triggers/${FLASHBTC1H}/900`;
  await chain.emit(...sold(FLASHBTC1H, 900n, alice));
  await chain.emit(logs.issued(EPOCH, 400n, alice), logs.triggered(900n, alice), submitted(900n, alice));
  expect(await read(evaluation)).toMatchObject({ status: "Triggered", verdict: { code: "triggered" } });
  await chain.emit(...sold(FLASHBTC1H, 900n, bob));
  // No round of the feed is indexed: the verdict is open.
  expect(await read(evaluation)).toMatchObject({ verdict: { code: "unknown" } });
  const { transactionHash: txHash } = await chain.emit(
    logs.issued(EPOCH, 400n, bob),
    logs.triggered(900n, bob),
    submitted(900n, bob),
  );
  expect(await read(evaluation)).toMatchObject({ status: "Triggered", verdict: { txHash } });
  const buyers = [bob, alice].map((address) => getAddress(address));
  expect(await read("/api/v1/triggers/recent")).toMatchObject({
    triggers: buyers.map((buyer) => ({ policyId: "900", buyer, submitter: buyer, bondAmount: "400" })),
  });
});

const market = (event: string, args: Readonly<Record<string, unknown>>) =>
  entry(chain.contracts.marketplace, bondMarketplaceAbi, event, args);
const listed = (listingId: bigint, epochId: bigint) =>
  market("Listed", { listingId, seller: alice, epochId, amount: 100n, priceUSDC: 90_000_000n });
const bought = (listingId: bigint, priceUSDC: bigint) =>
  market("Bought", { listingId, buyer: bob, seller: alice, priceUSDC, sellerFee: 1n, buyerFee: 1n });

test("an epoch stays in the market after its only listing was cancelled", async () => {
  await chain.emit(listed(1n, EPOCH), market("Cancelled", { listingId: 1n, seller: alice }));
  expect(await read("/api/v1/stats/market")).toMatchObject({
    by_epoch: [{ epoch_id: String(EPOCH), active_listings: 0, listed_usd: "0", floor_price: null, sales: 0 }],
  });
});

test("the average price of a day leaves out sales of listings that the index does not know", async () => {
  await chain.emit(listed(2n, EPOCH), bought(2n, 90_000_000n), bought(77n, 500_000_000n));
  const figures = { sold_usd: "100", average_price: "900000" };
  expect(await read("/api/v1/stats/market")).toMatchObject({
    by_day: [{ sales: 2, volume_usdc: "590000000", ...figures }],
    by_epoch: [{ sales: 1, volume_usdc: "90000000", ...figures }],
  });
});

test("while the node does not tell the vault's price, the newest in an event holds; a burn at a price of 0 names none", async () => {
  const getStatus = toFunctionSelector("getStatus()");
  node.intercept((call, forward) =>
    call.method === "eth_call" && JSON.stringify(call.params[0]).includes(`"${getStatus}"`)
      ? Promise.resolve({ error: { code: -32000, message: "missing trie node" } })
      : forward(),
  );
  // Prices of burns have 6 decimals.
  await chain.emit(logs.burnExecuted(10n, 36_000n));
  await chain.emit(logs.burnExecuted(10n ** 30n, 0n));
  const token_price = { source: "burn", price: "36000000000000000" };
  for (const path of ["queue", "vault"])
    expect(await read(`/api/v1/stats/${path}`)).toMatchObject({ token_price });
  expect(await read("/api/v1/stats/prices")).toMatchObject({ token: token_price });
  node.intercept();
  await chain.client.mine({ blocks: 1 });
  expect(await read("/api/v1/stats/vault")).toMatchObject({ token_price: { source: "vault" } });
});

test("a waiting redemption has those of its own week ahead of it", async () => {
  const week = (await chain.client.getBlock()).timestamp / 604_800n;
  const queued = (usdAmount: bigint, target: bigint) =>
    entry(chain.contracts.bondVault, bondVaultAbi, "BondQueued", {
      ...{ holder: alice, epochIdBond: EPOCH, usdAmount, targetThrottleEpoch: target },
    });
  await chain.emit(queued(20n, week), queued(5n, week + 1n), queued(7n, week + 1n), queued(9n, week));
  const entries = (...ahead: string[]) => ({ entries: ahead.map((ahead_usd) => ({ ahead_usd })) });
  expect(await read("/api/v1/stats/queue")).toMatchObject(entries("0", "20", "0", "5"));
  const last = String((week + 1n) * 10_000n);
  expect(await read(`/api/v1/stats/queue?cursor=${last}`)).toMatchObject(entries("5"));
});

test("a search by asset finds policies of the catalogue's products, also where no event has registered them", async () => {
  await answersCaughtUp({ chain, stack, request });
  // Without the api, which would ask these emitters for what the index does not know.
  readFrom(indexed, VIEWS_SCHEMA);
  const rows = openRows(stack.databaseUrl);
  const found = (symbol: string, more: Partial<PolicySearch> = {}) =>
    drizzle(rows.sql, { casing: "snake_case" }).transaction(async (db) => {
      const search = { asset: assetBytes32(symbol), limit: 9, offset: 0, ...more };
      const page = pageRows(await searchPolicies(db, search, 0n));
      return page.map((policy) => [policy.productId, String(policy.policyId)]);
    });
  const ofCatalogue = [FLASHBTC1H, "900"];
  try {
    expect(await found("ETH")).toEqual([]);
    expect(await found("BTC")).toEqual([ofCatalogue, ofCatalogue]);
    expect(await found("BTC", { buyer: bob })).toEqual([ofCatalogue]);
  } finally {
    await rows.close();
  }
});
