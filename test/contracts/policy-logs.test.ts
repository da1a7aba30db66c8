/** The order of a policy's logs, on which the index relies. */
import { describe, expect, test } from "vitest";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { namesOf } from "./log-order.ts";
import { alice, HOUR, owner, relayer, stranger, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const btc1h = termsOf("FLASHBTC1H-001");
const LIMIT = 58_500_00000000n;

const buy = () => act.purchase(protocol(), alice, btc1h, 1_000n * USDC);
const observe = (policyIds: readonly bigint[]) => act.observe(protocol(), stranger, btc1h, policyIds);
/** Waits, and adds a round. */
async function push(price: bigint, seconds = 60n) {
  await act.timeTravel(protocol(), seconds);
  await act.pushPrice(protocol(), owner, "BTC", price);
}
/** A policy's adapter, where the relayer may settle. */
async function relayedAdapter(policyId: bigint) {
  const { adapter } = await act.coverOf(protocol(), btc1h, policyId);
  await act.setAdapterRelayer(protocol(), owner, adapter, relayer.address);
  return adapter;
}

const observation = ["Shield.ConfirmationObserved", "Shield.PolicyVerified", "Adapter.PolicySettled"];
const bond = ["EpochCreated", "TransferSingle", "BondsMinted", "BondIssued"];
const expiry = ["Shield.PolicyVerified", "ReservationReleased", "PolicyExpired"];

test("a purchase, direct or relayed", async () => {
  const logs = [
    ...["Transfer", "Approval", "Transfer", "PremiumReceived", "CapacityReserved"],
    ...["Shield.PolicyCreated", "PolicyCreated", "PolicyPurchased"],
  ];
  expect(namesOf((await buy()).receipt)).toEqual(logs);
  const relayed = await act.purchaseFor(protocol(), relayer, btc1h, 100n * USDC, alice.address);
  expect(namesOf(relayed.receipt)).toEqual(logs);
});

test("observations, a reset and a failure, per id", async () => {
  const ids = [(await buy()).policyId, (await buy()).policyId, 9n];
  await push(LIMIT, 300n);
  const observed = [...observation, "Keeper.PolicySettled"];
  expect(namesOf(await observe(ids))).toEqual([...observed, ...observed, "Keeper.SettlementFailed"]);
  await push(LIMIT + 1n, 1n);
  expect(namesOf(await observe(ids.slice(0, 1)))).toEqual([
    ...["Shield.PolicyVerified", "Adapter.PolicySettled", "Keeper.PolicySettled"],
  ]);
});

describe("a trigger", () => {
  const paid = [
    ...["Shield.ConfirmationObserved", "Shield.PolicyVerified", "ReservationCommitted", ...bond],
    ...["PolicyTriggered", "Adapter.PolicySettled"],
  ];

  test("by performUpkeep; a second bond of the month creates no epoch", async () => {
    const ids = [(await buy()).policyId, (await buy()).policyId];
    for (let i = 0; i < 2; i++) {
      await push(LIMIT, 300n);
      await observe(ids);
    }
    await push(LIMIT);
    const first = [...paid, "Keeper.PolicySettled"];
    expect(namesOf(await observe(ids))).toEqual([
      ...first,
      ...first.filter((name) => name !== "EpochCreated"),
    ]);
  });

  test("by the adapter's relayer", async () => {
    const { policyId } = await buy();
    const adapter = await relayedAdapter(policyId);
    await act.observeTwice(protocol(), stranger, btc1h, policyId);
    expect(namesOf(await act.checkAndSettle(protocol(), relayer, adapter, policyId))).toEqual(paid);
  });

  test("by submitTrigger", async () => {
    const { policyId } = await buy();
    await act.observeTwice(protocol(), stranger, btc1h, policyId);
    const { receipt } = await act.submitTrigger(protocol(), relayer, btc1h, policyId);
    expect(namesOf(receipt)).toEqual([
      ...["ReservationCommitted", "Shield.ConfirmationObserved", "Shield.PolicyVerified", ...bond],
      ...["PolicyTriggered", "TriggerSubmitted"],
    ]);
  });
});

test("an expiry by markExpired, by performUpkeep and by the adapter's relayer", async () => {
  const first = (await buy()).policyId;
  const second = (await buy()).policyId;
  const third = (await buy()).policyId;
  const adapter = await relayedAdapter(first);
  await act.timeTravel(protocol(), HOUR + 60n);
  expect(namesOf(await act.markExpired(protocol(), stranger, btc1h, first))).toEqual(expiry);
  expect(namesOf(await observe([second]))).toEqual([
    ...expiry,
    ...["Adapter.PolicySettled", "Keeper.PolicySettled"],
  ]);
  expect(namesOf(await act.checkAndSettle(protocol(), relayer, adapter, third))).toEqual([
    ...expiry,
    "Adapter.PolicySettled",
  ]);
});
