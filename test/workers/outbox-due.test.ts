/**
 * What this proves: a policy, also one whose key comes again, becomes due once, as soon as its feed's newest round is at or below its trigger
 * price, young enough, and 300 seconds have passed since the purchase; its event is the log of that round; and never when it could not be
 * observed any more.
 */
import { getAddress, type TransactionReceipt } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { priceAggregatorAbi } from "../../abis/PriceAggregator.ts";
import { eventId } from "../../lib/webhooks/events.ts";
import { entry } from "../src/support/emitter-chain.ts";
import {
  DAY_PRODUCT,
  type DuePolicies,
  FALLEN,
  HOUR_PRODUCT,
  openDuePolicies,
  PRICE,
} from "./support/due-policies.ts";
import { policyKeyAgainTests } from "./support/policy-key-again.ts";
import { alice, type ReorgWorld, startReorgWorld } from "./support/reorganisations.ts";

const HOUR = 3600n;
const DWELL = 300n;
/** The trigger price of a purchase at {@link PRICE}, 8 decimals. */
const TRIGGER = (PRICE * 94n) / 100n;
const wei = (price: bigint) => String(price * 10n ** 10n);

let world: ReorgWorld;
let policies: DuePolicies;

beforeAll(async () => {
  world = await startReorgWorld();
  policies = openDuePolicies(world.chain, alice);
});
beforeEach(() => world.beginTest());

// First: a day passes, in which the other tests' policies would end.
describe("a policy whose key comes again", () => policyKeyAgainTests(() => ({ world, policies })));

/** The types and policies of the new events about policies, without purchases. */
async function happened(): Promise<string[]> {
  await world.processed();
  return (await world.newEvents())
    .filter(({ type }) => type !== "policy_purchased")
    .map(({ type, body }) => `${type} ${body.data.policyId}`);
}
const keyOf = ({ blockHash, transactionHash }: TransactionReceipt, logIndex: number, policyId: bigint) =>
  `${blockHash}:${transactionHash}:${logIndex}:due:${DAY_PRODUCT}:${policyId}`;

test("a policy becomes due with the first round at or below its trigger price, and once", async () => {
  const { block, round, fall } = policies;
  const policyId = await policies.buy();
  const { timestamp: boughtAt } = await world.chain.client.getBlock();
  await block((now) => [round(TRIGGER + 1n, now)], DWELL);
  expect(await happened()).toEqual([]);
  const first = await block((now) => [round(TRIGGER, now)]);
  const { timestamp: dueAt } = await world.chain.client.getBlock();
  await fall();
  await block((now) => [round(PRICE, now)]);
  for (let n = 0; n < 4; n += 1) await fall();
  expect(await happened()).toEqual([`policy_due ${policyId}`]);
  const [event] = (await world.newEvents()).filter(({ type }) => type === "policy_due");
  expect(event).toMatchObject({
    id: eventId(8453, keyOf(first, Number(first.logs[0]?.logIndex), policyId), 1),
    ...{ key: `due:${DAY_PRODUCT}:${policyId}`, occurrence: 1, parties: [alice], reverted: false },
    ...{ blockNumber: Number(first.blockNumber), blockHash: first.blockHash, txHash: first.transactionHash },
  });
  expect(event?.body.data).toEqual({
    ...{ productId: DAY_PRODUCT, productName: null, policyId: String(policyId) },
    ...{ buyer: getAddress(alice), coverageAmount: "500000000", payoutAmount: "400000000" },
    ...{ triggerPrice: wei(TRIGGER), price: wei(TRIGGER), priceAt: String(dueAt) },
    ...{ expiresAt: String(boughtAt + 24n * HOUR), dueAt: String(dueAt) },
  });
  expect(await world.newDeliveries(world.subscription)).toMatchObject([
    { type: "policy_purchased" },
    { type: "policy_due" },
  ]);
});

test("a price that fell earlier makes a policy due 300 seconds after its purchase, without another log", async () => {
  const { block, buy, fall } = policies;
  const policyId = await buy();
  const { timestamp: boughtAt } = await world.chain.client.getBlock();
  await world.processed();
  const fallen = await fall();
  await block(() => [], DWELL - 3n);
  expect(await happened()).toEqual([]);
  await block(() => [], 1n);
  expect(await happened()).toEqual([`policy_due ${policyId}`]);
  const [, due] = await world.newEvents();
  expect(due?.id).toBe(eventId(8453, keyOf(fallen, Number(fallen.logs[0]?.logIndex), policyId), 1));
  expect(due?.body.data).toMatchObject({
    ...{ price: wei(FALLEN), priceAt: String(boughtAt + 2n), dueAt: String(boughtAt + DWELL) },
  });
});

test("a round counts only while it is the newest: not when the price has risen before the dwell's end, or in the same block", async () => {
  const { block, round, buy, fall } = policies;
  const policyId = await buy();
  await fall();
  await block((now) => [round(PRICE, now)]);
  await block(() => [], DWELL);
  await block((now) => [round(FALLEN, now), round(PRICE, now)]);
  await block(() => []);
  expect(await happened()).toEqual([]);
  const last = await block((now) => [round(PRICE, now), round(FALLEN, now)]);
  expect(await happened()).toEqual([`policy_due ${policyId}`]);
  const [, due] = await world.newEvents();
  expect(due?.id).toBe(eventId(8453, keyOf(last, Number(last.logs[1]?.logIndex), policyId), 1));
});

test("a round counts in its own block, also where the next one comes in the same second, whenever the outbox looks", async () => {
  const { block, round, buy } = policies;
  const policyId = await buy();
  await world.processed();
  await world.stopOutbox();
  const fallen = await block((now) => [round(FALLEN, now)], DWELL);
  await block((now) => [round(PRICE, now)], 0n);
  await block((now) => [round(FALLEN, now)]);
  world.startOutbox();
  expect(await happened()).toEqual([`policy_due ${policyId}`]);
  const [, due] = await world.newEvents();
  expect(due?.blockNumber).toBe(Number(fallen.blockNumber));
});

test("the last second of a round counts, also where the next one comes in another block of that second, whenever the outbox looks", async () => {
  const { block, round, buy, fall } = policies;
  const bought = await buy();
  const { timestamp: boughtAt } = await world.chain.client.getBlock();
  const fallen = await fall();
  await world.processed();
  await world.stopOutbox();
  const { timestamp } = await world.chain.client.getBlock();
  await block(() => [], boughtAt + DWELL - timestamp);
  await block((now) => [round(PRICE, now)], 0n);
  world.startOutbox();
  expect(await happened()).toEqual([`policy_due ${bought}`]);
  const [, due] = await world.newEvents();
  expect(due?.blockNumber).toBe(Number(fallen.blockNumber));
});

test("a round counts from its own time on, for an hour; one without a price never", async () => {
  const { block, round, buy } = policies;
  const policyId = await buy();
  await block((now) => [round(FALLEN, now - HOUR - 1n)], DWELL);
  for (const price of [0n, -1n]) await block((now) => [round(price, now)]);
  await block((now) => [round(FALLEN, now + 50n)]);
  await block(() => [], 49n);
  expect(await happened()).toEqual([]);
  await block(() => [], 1n);
  expect(await happened()).toEqual([`policy_due ${policyId}`]);
  const old = await buy();
  await block((now) => [round(FALLEN, now - HOUR)], DWELL);
  expect(await happened()).toEqual([policyId, old].map((id) => `policy_due ${id}`));
});

test("the last second of the cover is early enough; a round that is logged after the end is too late", async () => {
  const { block, round, buy } = policies;
  const lasting = await buy({ productId: HOUR_PRODUCT });
  const { timestamp: first } = await world.chain.client.getBlock();
  const late = await buy({ productId: HOUR_PRODUCT });
  const { timestamp } = await world.chain.client.getBlock();
  await block((now) => [round(FALLEN, now)], first + HOUR - timestamp);
  expect(await happened()).toEqual([`policy_due ${lasting}`, `policy_due ${late}`]);
  const ended = await buy({ productId: HOUR_PRODUCT });
  await block((now) => [round(FALLEN, now - 10n)], HOUR + 1n);
  await expect
    .poll(happened)
    .toEqual([
      ...[`policy_due ${lasting}`, `policy_due ${late}`],
      ...[`policy_expired ${lasting}`, `policy_expired ${late}`, `policy_expired ${ended}`],
    ]);
});

test("a policy triggered in the round's block is not due; one triggered later was due, whenever the outbox looks", async () => {
  const { block, round, buy, triggered } = policies;
  const [at, later] = [await buy(), await buy()];
  await world.processed();
  await world.stopOutbox();
  await block((now) => [triggered(at), round(FALLEN, now)], DWELL);
  await block(() => [triggered(later)]);
  await world.mine(3);
  world.startOutbox();
  expect(await happened()).toEqual([
    ...[`policy_triggered ${at}`, `policy_due ${later}`, `policy_triggered ${later}`],
  ]);
});

test("a policy triggered in the next block was due, also when both blocks have the same second", async () => {
  const { block, buy, fall, triggered } = policies;
  const paid = await buy();
  await fall(DWELL);
  await block(() => [triggered(paid)], 0n);
  expect(await happened()).toEqual([`policy_due ${paid}`, `policy_triggered ${paid}`]);
});

test("without the sequencer a policy becomes due all the same", async () => {
  const { contracts } = world.chain;
  const policyId = await policies.buy();
  const down = (now: bigint) =>
    entry(contracts.sequencerFeed, priceAggregatorAbi, "AnswerUpdated", {
      ...{ current: 1n, roundId: 2n, updatedAt: now },
    });
  await policies.block((now) => [down(now)]);
  await policies.fall(DWELL);
  expect(await happened()).toEqual([`policy_due ${policyId}`]);
});

test("300 policies that one round makes due have one event each", async () => {
  const { block, purchase, round, fall } = policies;
  const before = policies.newest();
  await block((now) => [round(PRICE, now)]);
  for (let n = 0; n < 6; n += 1) await block((now) => Array.from({ length: 50 }, () => purchase(now)).flat());
  const fallen = await fall(DWELL);
  await fall();
  await world.processed();
  const due = (await world.newEvents()).filter(({ type }) => type === "policy_due");
  const ids = Array.from({ length: 300 }, (_, n) => String(before + BigInt(n) + 1n));
  expect(due.map(({ body }) => String(body.data.policyId))).toEqual(ids);
  expect(new Set(due.map(({ id }) => id)).size).toBe(300);
  expect(new Set(due.map(({ blockHash }) => blockHash))).toEqual(new Set([fallen.blockHash]));
  const delivered = await world.newDeliveries(world.subscription);
  expect(delivered.filter(({ type }) => type === "policy_due")).toHaveLength(300);
});
