/**
 * What this proves: a policy, also one whose key comes again, becomes due once, with the log after which three rounds at or below its trigger price count
 * within its window, whatever order they come in; and never if it could not be paid any more.
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

test("a policy becomes due with the third round at or below its trigger price, not with the second, and once", async () => {
  const { block, round, nextRound, fall } = policies;
  const policyId = await policies.buy();
  const { timestamp: boughtAt } = await world.chain.client.getBlock();
  const ids = [nextRound(), nextRound(), nextRound(), nextRound()];
  await block((now) => [round(TRIGGER + 1n, now, ids[0])]);
  await block((now) => [round(TRIGGER, now, ids[1])]);
  await block((now) => [round(TRIGGER - 5n, now, ids[2])]);
  expect(await happened()).toEqual([]);
  const third = await block((now) => [round(FALLEN, now, ids[3])]);
  const { timestamp: dueAt } = await world.chain.client.getBlock();
  await fall();
  await block((now) => [round(PRICE, now)]);
  for (let n = 0; n < 4; n += 1) await fall();
  expect(await happened()).toEqual([`policy_due ${policyId}`]);
  const [event] = (await world.newEvents()).filter(({ type }) => type === "policy_due");
  expect(event).toMatchObject({
    id: eventId(8453, keyOf(third, Number(third.logs[0]?.logIndex), policyId), 1),
    ...{ key: `due:${DAY_PRODUCT}:${policyId}`, occurrence: 1, parties: [alice], reverted: false },
    ...{ blockNumber: Number(third.blockNumber), blockHash: third.blockHash, txHash: third.transactionHash },
  });
  expect(event?.body.data).toEqual({
    ...{ productId: DAY_PRODUCT, productName: null, policyId: String(policyId) },
    ...{ buyer: getAddress(alice), coverageAmount: "500000000", payoutAmount: "400000000" },
    ...{ triggerPrice: wei(TRIGGER), rounds: ids.slice(1).map(String) },
    prices: [TRIGGER, TRIGGER - 5n, FALLEN].map(wei),
    ...{ expiresAt: String(boughtAt + 24n * HOUR), dueAt: String(dueAt) },
  });
  expect(await world.newDeliveries(world.subscription)).toMatchObject([
    { type: "policy_purchased" },
    { type: "policy_due" },
  ]);
});

test("rounds of one block count in the order of their logs, and the proof has them in the order of their ids", async () => {
  const { block, round, nextRound, purchase } = policies;
  const [first, second, third, fourth] = [nextRound(), nextRound(), nextRound(), nextRound()];
  const receipt = await block((now) => [
    ...[round(PRICE, now), ...purchase(now)],
    ...[round(FALLEN, now, fourth), round(FALLEN + 1n, now, second), round(FALLEN + 2n, now, first)],
    round(FALLEN + 3n, now, third),
  ]);
  expect(await happened()).toEqual([`policy_due ${policies.newest()}`]);
  const [, due] = await world.newEvents();
  expect(due?.id).toBe(eventId(8453, keyOf(receipt, 6, policies.newest()), 1));
  expect(due?.body.data).toMatchObject({
    rounds: [first, second, fourth].map(String),
    prices: [FALLEN + 2n, FALLEN + 1n, FALLEN].map(wei),
  });
});

test("rounds that are in the window of a later purchase make it due with the log of the purchase", async () => {
  const { block, round, purchase } = policies;
  const receipt = await block((now) => [
    ...[round(FALLEN, now), round(FALLEN, now), round(FALLEN, now)],
    ...[round(PRICE, now), ...purchase(now)],
  ]);
  expect(await happened()).toEqual([`policy_due ${policies.newest()}`]);
  const events = await world.newEvents();
  expect(events.map(({ type }) => type)).toEqual(["policy_purchased", "policy_due"]);
  expect(events[1]?.id).toBe(eventId(8453, keyOf(receipt, 6, policies.newest()), 1));
});

test("a round counts in the window alone: not from before the purchase, nor from after the end", async () => {
  const { block, round, buy, fall } = policies;
  const policyId = await buy();
  const early = (now: bigint) => [round(FALLEN, now - 10n), round(FALLEN, 0n), round(-1n, now)];
  await block(early);
  await fall();
  await fall();
  await block((now) => [round(FALLEN, now + 1000n * HOUR)]);
  expect(await happened()).toEqual([]);
  await fall();
  expect(await happened()).toEqual([`policy_due ${policyId}`]);
});

test("the last second of the cover is early enough; a round that is logged after the end is too late", async () => {
  const { block, round, buy, fall } = policies;
  const lasting = await buy({ productId: HOUR_PRODUCT });
  const { timestamp: first } = await world.chain.client.getBlock();
  const late = await buy({ productId: HOUR_PRODUCT });
  await fall();
  await fall();
  const { timestamp } = await world.chain.client.getBlock();
  await block((now) => [round(FALLEN, now)], first + HOUR - timestamp);
  expect(await happened()).toEqual([`policy_due ${lasting}`, `policy_due ${late}`]);
  const ended = await buy({ productId: HOUR_PRODUCT });
  await fall();
  await fall();
  await block((now) => [round(FALLEN, now - 10n)], HOUR);
  await expect
    .poll(happened)
    .toEqual([
      ...[`policy_due ${lasting}`, `policy_due ${late}`],
      ...[`policy_expired ${lasting}`, `policy_expired ${late}`, `policy_expired ${ended}`],
    ]);
});

test("a policy triggered in the same block is not due; one triggered later was due, whenever the outbox looks", async () => {
  const { block, round, buy, fall, triggered } = policies;
  const [at, later] = [await buy(), await buy()];
  await fall();
  await fall();
  await world.processed();
  await world.stopOutbox();
  await block((now) => [triggered(at), round(FALLEN, now)]);
  await block(() => [triggered(later)]);
  await world.mine(3);
  world.startOutbox();
  expect(await happened()).toEqual([
    ...[`policy_triggered ${at}`, `policy_due ${later}`, `policy_triggered ${later}`],
  ]);
});

test("a policy triggered in the next block was due, also when both blocks have the same second", async () => {
  const { block, round, buy, fall, triggered } = policies;
  const paid = await buy();
  await fall();
  await fall();
  await block((now) => [round(FALLEN, now)]);
  await block(() => [triggered(paid)], 0n);
  expect(await happened()).toEqual([`policy_due ${paid}`, `policy_triggered ${paid}`]);
});

test("a payout below a dollar, for which the vault has no bond, is never due", async () => {
  const { buy, fall } = policies;
  await buy({ payout: 999_999n });
  const paid = await buy({ payout: 1_000_000n });
  for (let n = 0; n < 3; n += 1) await fall();
  expect(await happened()).toEqual([`policy_due ${paid}`]);
});

test("without the sequencer a policy becomes due all the same, with the third round", async () => {
  const { contracts } = world.chain;
  const policyId = await policies.buy();
  const down = (now: bigint) =>
    entry(contracts.sequencerFeed, priceAggregatorAbi, "AnswerUpdated", {
      ...{ current: 1n, roundId: 2n, updatedAt: now },
    });
  await policies.block((now) => [down(now)]);
  for (let n = 0; n < 3; n += 1) await policies.fall();
  expect(await happened()).toEqual([`policy_due ${policyId}`]);
});

test("300 policies that one round makes due have one event each", async () => {
  const { block, purchase, round, fall } = policies;
  const before = policies.newest();
  await block((now) => [round(PRICE, now)]);
  for (let n = 0; n < 6; n += 1) await block((now) => Array.from({ length: 50 }, () => purchase(now)).flat());
  await fall();
  await fall();
  const third = await fall();
  await fall();
  await world.processed();
  const due = (await world.newEvents()).filter(({ type }) => type === "policy_due");
  const ids = Array.from({ length: 300 }, (_, n) => String(before + BigInt(n) + 1n));
  expect(due.map(({ body }) => String(body.data.policyId))).toEqual(ids);
  expect(new Set(due.map(({ id }) => id)).size).toBe(300);
  expect(new Set(due.map(({ blockHash }) => blockHash))).toEqual(new Set([third.blockHash]));
  const delivered = await world.newDeliveries(world.subscription);
  expect(delivered.filter(({ type }) => type === "policy_due")).toHaveLength(300);
});
