/**
 * What this proves: a policy that was not triggered has one expiry event, in the first block after its end,
 * also after an outage; an expiry that a reorganisation undoes is reverted, and happens again at its time; and one whose block
 * a reorganisation replaces is reverted, and names the new block.
 */
import { keccak256, stringToHex, zeroHash } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { openProtocol, type Protocol, snapshot } from "../../scripts/local/protocol/actions/index.ts";
import type { Outbox } from "../../workers/outbox/start.ts";
import { type EmitterChain, type Entry, entry, startEmitterChain } from "../src/support/emitter-chain.ts";
import { revertTo, timeTravel } from "../support/protocol-actions.ts";
import { HttpFault, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type OutboxWorld, startOutboxWorld } from "./support/outbox.ts";

const alice = "0x00000000000000000000000000000000000a11ce";
const bob = "0x0000000000000000000000000000000000000b0b";
const productId = keccak256(stringToHex("FLASHBTC1H-001"));
const HOUR = 3600n;

let chain: EmitterChain;
let protocol: Protocol;
let proxy: RpcProxy;
let world: OutboxWorld;
let outbox: Outbox;
let subscription: number;
let since: number;
let policies = 0n;

beforeAll(async () => {
  chain = await startEmitterChain();
  protocol = openProtocol(chain.deployment, chain.url);
  proxy = await startRpcProxy(chain.url);
  world = await startOutboxWorld(chain);
  subscription = await world.subscribe(alice, { events: ["policy_expired"] });
  await chain.client.mine({ blocks: 1 });
  outbox = world.start({ rpcUrl: proxy.url });
  await world.processed();
});

beforeEach(async () => {
  proxy.intercept();
  since = (await world.events()).at(-1)?.seq ?? 0;
});

/** The logs of shield and manager for a policy of one hour that is bought at `start`. */
function created(policyId: bigint, start: bigint, buyer = alice): Entry[] {
  const args = { productId, policyId, buyer, coverage: 500n, premium: 7n, payout: 400n };
  const { shield } = chain.shields.get(productId) ?? expect.fail();
  const cover = { holder: buyer, strikePrice: 6_000_000_000_000n, startTimestamp: start };
  return [
    entry(shield, flashShieldAbi, "PolicyCreated", { ...args, ...cover, expiresAt: start + HOUR }),
    entry(chain.contracts.policyManager, policyManagerAbi, "PolicyCreated", args),
  ];
}

/** The time of the next block, which this fixes. */
async function nextTime(): Promise<bigint> {
  const timestamp = (await chain.client.getBlock()).timestamp + 2n;
  await chain.client.setNextBlockTimestamp({ timestamp });
  return timestamp;
}

/** Buys a policy of one hour in the next block; returns its id. */
async function buy(buyer = alice): Promise<bigint> {
  policies += 1n;
  const args = { productId, policyId: policies, buyer, coverage: 500n, premium: 7n, payout: 400n };
  await chain.emit(
    ...created(policies, await nextTime(), buyer),
    entry(chain.contracts.coverRouter, coverRouterAbi, "PolicyPurchased", { ...args, paidBy: bob }),
  );
  return policies;
}
const trigger = (policyId: bigint) =>
  chain.emit(
    entry(chain.contracts.policyManager, policyManagerAbi, "PolicyTriggered", {
      ...{ productId, policyId, buyer: alice, bondAmount: 400n, reason: zeroHash },
    }),
  );
const close = (policyId: bigint) =>
  chain.emit(
    entry(chain.contracts.policyManager, policyManagerAbi, "PolicyExpired", { productId, policyId }),
  );

const expiries = async () =>
  (await world.events()).filter(({ seq, type, body }) => {
    return seq > since && (type === "policy_expired" || body.data.eventType === "policy_expired");
  });
const expiredPolicies = async () =>
  (await expiries()).map(({ type, body }) => `${type} ${body.data.policyId}`);

test("a policy expires once, in the first block after its last second", async () => {
  const policyId = await buy();
  const { timestamp } = await chain.client.getBlock();
  await timeTravel(protocol, HOUR);
  await world.processed();
  expect(await expiredPolicies()).toEqual([]);
  const end = await timeTravel(protocol, 1n);
  const block = await chain.client.getBlock();
  await world.processed();
  await chain.client.mine({ blocks: 3 });
  await close(policyId);
  await world.processed();
  await expect.poll(expiries).toMatchObject([
    {
      ...{ key: `expired:${productId}:${policyId}`, occurrence: 1, parties: [alice], txHash: null },
      ...{ blockNumber: Number(block.number), blockHash: block.hash },
      body: {
        createdAt: new Date(Number(end) * 1000).toISOString(),
        data: {
          ...{ productId, policyId: String(policyId), coverageAmount: "500" },
          expiresAt: String(timestamp + HOUR),
        },
      },
    },
  ]);
  const deliveries = (await world.deliveries()).filter(({ seq }) => seq > since);
  expect(deliveries).toMatchObject([{ webhookId: subscription, type: "policy_expired" }]);
});

test("a triggered policy does not expire", async () => {
  const [triggered, expired] = [await buy(), await buy()];
  await trigger(triggered);
  await timeTravel(protocol, HOUR + 10n);
  await world.processed();
  await expect.poll(expiredPolicies).toEqual([`policy_expired ${expired}`]);
});

test("an expiry during a writer outage is stored afterwards, with the first block after its end", async () => {
  const policyId = await buy();
  await world.processed();
  await outbox.stop();
  for (let n = 0; n < 12; n += 1) await timeTravel(protocol, HOUR / 10n);
  const blocks = await Promise.all(
    Array.from({ length: 12 }, async (_, n) => {
      const head = await chain.client.getBlockNumber();
      return chain.client.getBlock({ blockNumber: head - BigInt(11 - n) });
    }),
  );
  await chain.client.mine({ blocks: 20 });
  outbox = world.start({ rpcUrl: proxy.url });
  await world.processed();
  await expect.poll(expiries).not.toEqual([]);
  const [event, ...more] = await expiries();
  expect(more).toEqual([]);
  const end = BigInt(String(event?.body.data.expiresAt));
  const first = blocks.find(({ timestamp }) => timestamp > end);
  expect(event).toMatchObject({ blockNumber: Number(first?.number), blockHash: first?.hash });
  expect(event?.body.data.policyId).toBe(String(policyId));
});

test("while the node does not answer, expiries wait and log events do not", async () => {
  const policyId = await buy();
  await world.processed();
  proxy.intercept(async () => {
    throw new HttpFault(503);
  });
  await chain.client.mine({ blocks: 3 });
  await timeTravel(protocol, HOUR + 1n);
  const other = await buy(bob);
  await world.processed();
  expect(await expiredPolicies()).toEqual([]);
  const bought = (await world.events()).filter(({ type }) => type === "policy_purchased");
  expect(bought.at(-1)?.body.data.policyId).toBe(String(other));
  proxy.intercept();
  await expect.poll(expiredPolicies).toEqual([`policy_expired ${policyId}`]);
});

test("550 policies that expire in one block have one event each, before the events of later blocks", async () => {
  const count = 550;
  const ids = Array.from({ length: count }, () => {
    policies += 1n;
    return policies;
  });
  for (let n = 0; n < count; n += 50) {
    const now = await nextTime();
    await chain.emit(...ids.slice(n, n + 50).flatMap((policyId) => created(policyId, now)));
  }
  await timeTravel(protocol, HOUR * 2n);
  for (let n = 0n; n < 5n; n += 1n) await trigger(1_000_000n + n);
  await world.processed();
  await expect.poll(async () => (await expiries()).length).toBeGreaterThanOrEqual(count);
  const found = (await expiries()).map(({ body }) => BigInt(String(body.data.policyId)));
  expect(found.toSorted((a, b) => Number(a - b)).filter((id) => id >= (ids[0] ?? 0n))).toEqual(ids);
  const blocks = (await world.events()).map(({ blockNumber }) => blockNumber);
  expect(blocks.slice(-count)).toEqual(blocks.slice(-count).toSorted((a, b) => a - b));
});

test("an expiry whose block is replaced is reverted, and sent again with the first block after the end", async () => {
  const policyId = await buy();
  await timeTravel(protocol, HOUR + 1n);
  await world.processed();
  await expect.poll(expiries).toHaveLength(1);
  await world.connection.sql`update service.delivery set taken_at = now() where event_seq > ${since}`;
  const replaced = await chain.client.getBlock();
  // The outbox resumes when the new chain is past the end too.
  await outbox.stop();
  await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [1, []],
  });
  const end = BigInt(String((await expiries())[0]?.body.data.expiresAt));
  let block = await chain.client.getBlock({ blockNumber: replaced.number });
  if (block.timestamp <= end) {
    await timeTravel(protocol, 2n * HOUR);
    block = await chain.client.getBlock();
  }
  expect(block.hash).not.toBe(replaced.hash);
  await trigger(2_000_000n);
  await world.rows.caughtUp(chain.client);
  outbox = world.start({ rpcUrl: proxy.url });
  await chain.client.mine({ blocks: 2 });
  await world.processed();
  await expect.poll(expiries).toHaveLength(3);
  const key = `expired:${productId}:${policyId}`;
  const [first, reversal, second] = await expiries();
  expect(first).toMatchObject({ ...{ key, blockHash: replaced.hash, reverted: true } });
  expect(reversal).toMatchObject({
    ...{ type: "event_reverted", reverts: first?.seq },
    body: { data: { eventId: first?.id, eventType: "policy_expired" } },
  });
  expect(second).toMatchObject({
    ...{ key, occurrence: 2, reverted: false, blockNumber: Number(block.number), blockHash: block.hash },
    body: { blockHash: block.hash, data: first?.body.data },
  });
  expect(second?.id).not.toBe(first?.id);
  // In chain order with the events of the new blocks.
  const later = (await world.events()).find(
    ({ type, body }) => type === "policy_triggered" && body.data.policyId === "2000000",
  );
  expect(later?.seq).toBeGreaterThan(second?.seq ?? Number.POSITIVE_INFINITY);
});

test("an expiry that a reorganisation undoes is reverted, and happens again at its time", async () => {
  const policyId = await buy();
  await chain.client.mine({ blocks: 1 });
  const before = await snapshot(protocol);
  await timeTravel(protocol, HOUR + 1n);
  await world.processed();
  await expect.poll(expiries).toHaveLength(1);
  await world.connection.sql`update service.delivery set taken_at = now() where event_seq > ${since}`;
  await revertTo(protocol, before);
  await timeTravel(protocol, 10n);
  await timeTravel(protocol, 10n);
  await expect.poll(expiries).toHaveLength(2);
  await timeTravel(protocol, HOUR);
  await world.processed();
  await expect.poll(async () => (await expiries()).length).toBeGreaterThanOrEqual(3);
  const [first, reversal, second, ...more] = await expiries();
  expect(more).toEqual([]);
  expect(first).toMatchObject({ type: "policy_expired", occurrence: 1, reverted: true });
  expect(reversal).toMatchObject({
    type: "event_reverted",
    body: { data: { eventId: first?.id, data: { policyId: String(policyId) } } },
  });
  expect(second).toMatchObject({ type: "policy_expired", occurrence: 2, reverted: false, key: first?.key });
  expect(second?.id).not.toBe(first?.id);
});

test("an expiry is reverted when the replacing blocks trigger the policy", async () => {
  const policyId = await buy();
  await chain.client.mine({ blocks: 1 });
  const before = await snapshot(protocol);
  await timeTravel(protocol, HOUR + 1n);
  await world.processed();
  await expect.poll(expiries).toHaveLength(1);
  await revertTo(protocol, before);
  await trigger(policyId);
  await timeTravel(protocol, 2n * HOUR);
  await world.processed();
  await expect.poll(async () => (await expiries())[0]?.reverted).toBe(true);
  await chain.client.mine({ blocks: 2 });
  await world.processed();
  await expect.poll(expiredPolicies).toEqual([`policy_expired ${policyId}`]);
});

test("with three confirmations an expiry is stored two blocks after its block", async () => {
  await outbox.stop();
  outbox = world.start({ rpcUrl: proxy.url, confirmations: 3 });
  const policyId = await buy();
  await timeTravel(protocol, HOUR + 1n);
  const block = await chain.client.getBlock();
  await chain.client.mine({ blocks: 1 });
  await world.processed(3);
  expect(await expiredPolicies()).toEqual([]);
  await chain.client.mine({ blocks: 1 });
  await world.processed(3);
  await expect.poll(expiredPolicies).toEqual([`policy_expired ${policyId}`]);
  await expect.poll(expiries).toMatchObject([{ blockNumber: Number(block.number), blockHash: block.hash }]);
});
