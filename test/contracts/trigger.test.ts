/** Triggers by a proof of three rounds of the feed, which anybody submits, with every revert. */
import { encodeAbiParameters, hexToString, toHex } from "viem";
import { describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { catalogueTerms, termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { readsOf } from "./reads.ts";
import { alice, expectRevert, HOUR, owner, stranger, travel, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const { policy } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");
const btc24 = termsOf("FLASHBTC24-001");
/** BTC starts at 60,000 USD, so a drop of 2.5 % is 58,500. */
const LIMIT = 58_500_00000000n;

const buy = async (product: act.ProductRef = btc1h) =>
  (await act.purchase(protocol(), alice, product, 1_000n * USDC)).policyId;

/** Pushes these prices. @returns the first round's number. */
async function pushAll(prices: readonly bigint[]): Promise<bigint> {
  const { roundId } = await act.latestRound(protocol(), "BTC");
  for (const price of prices) await act.pushPrice(protocol(), owner, "BTC", price);
  return roundId + 1n;
}

async function threeRounds(price: bigint) {
  const first = await pushAll([price, price, price]);
  return act.oracleProof([first, first + 1n, first + 2n]);
}

const submit = (policyId: bigint, proof: `0x${string}`, product: act.ProductRef = btc1h) =>
  act.submitTrigger(protocol(), stranger, product, policyId, proof);

const isTriggered = async (policyId: bigint) => (await policy(btc1h.productId, policyId)).triggered;

describe("a trigger", () => {
  test.each(catalogueTerms)(
    "of $name pays at a fall of exactly its drop, in bonds of 80 %",
    async (terms) => {
      const policyId = await buy(terms);
      const { price } = await act.latestRound(protocol(), terms.symbol);
      const limit = (price * BigInt(10_000 - terms.triggerDropBps)) / 10_000n;
      expect(await act.triggerPrice(protocol(), terms, policyId)).toBe(limit);
      const { usdAmount, holder } = await act.trigger(protocol(), stranger, terms, policyId);
      expect([usdAmount, holder]).toEqual([800n, alice.address]);
    },
  );

  test("emits its submitter and its reason", async () => {
    const policyId = await buy();
    const { receipt } = await submit(policyId, await threeRounds(LIMIT));
    expect(act.onlyEvent(receipt, coverRouterAbi, "TriggerSubmitted").args).toEqual({
      productId: btc1h.productId,
      policyId,
      submitter: stranger.address,
    });
    const { reason, ...paid } = act.onlyEvent(receipt, policyManagerAbi, "PolicyTriggered").args;
    expect(paid).toEqual({ productId: btc1h.productId, policyId, buyer: alice.address, bondAmount: 800n });
    expect(hexToString(reason, { size: 32 })).toBe("TRIGGER_DROP");
    expect(await isTriggered(policyId)).toBe(true);
  });

  test("works in the last second of the window", async () => {
    const policyId = await buy();
    const end = (await act.chainTime(protocol())) + HOUR;
    const proof = await threeRounds(LIMIT);
    await act.nextBlockAt(protocol(), end);
    expect((await submit(policyId, proof)).usdAmount).toBe(800n);
  });

  test("accepts rounds that are not consecutive, with higher prices between them", async () => {
    const policyId = await buy();
    const first = await pushAll([LIMIT, 60_000_00000000n, LIMIT - 1n, 59_000_00000000n, LIMIT]);
    const proof = act.oracleProof([first, first + 2n, first + 4n]);
    expect((await submit(policyId, proof)).usdAmount).toBe(800n);
  });

  test("works while sales are paused, so sold cover still pays", async () => {
    const policyId = await buy();
    await act.setGlobalPause(protocol(), owner, true);
    await act.setRouterPaused(protocol(), owner, true);
    expect((await submit(policyId, await threeRounds(LIMIT))).usdAmount).toBe(800n);
  });
});

describe("a trigger reverts with", () => {
  test("TRIGGER_NOT_MET above the trigger price, and the policy stays open", async () => {
    const policyId = await buy();
    await expectRevert(submit(policyId, await threeRounds(LIMIT + 1n)), "TRIGGER_NOT_MET");
    expect(await isTriggered(policyId)).toBe(false);
    expect((await submit(policyId, await threeRounds(LIMIT))).usdAmount).toBe(800n);
  });

  test("TRIGGER_NOT_MET when one of the three rounds is above", async () => {
    const policyId = await buy();
    for (const high of [0, 1, 2]) {
      const first = await pushAll([0, 1, 2].map((i) => (i === high ? LIMIT + 1n : LIMIT)));
      await expectRevert(
        submit(policyId, act.oracleProof([first, first + 1n, first + 2n])),
        "TRIGGER_NOT_MET",
      );
    }
  });

  test("TRIGGER_NOT_MET when the round numbers do not increase", async () => {
    const policyId = await buy();
    const first = await pushAll([LIMIT, LIMIT, LIMIT]);
    for (const rounds of [
      [first, first, first],
      [first, first + 1n, first + 1n],
      [first + 2n, first + 1n, first],
      [first, first + 2n, first + 1n],
    ] as const)
      await expectRevert(submit(policyId, act.oracleProof(rounds)), "TRIGGER_NOT_MET");
  });

  test("TRIGGER_NOT_MET when a round is older than the purchase", async () => {
    const first = await pushAll([LIMIT, 60_000_00000000n]);
    await act.timeTravel(protocol(), 60n);
    const policyId = await buy();
    const next = await pushAll([LIMIT, LIMIT]);
    await expectRevert(submit(policyId, act.oracleProof([first, next, next + 1n])), "TRIGGER_NOT_MET");
  });

  test("ORACLE_INVALID for an unknown round, a price that is not above zero, and an invalid proof", async () => {
    const policyId = await buy();
    const first = await pushAll([LIMIT, LIMIT, 0n, -1n]);
    const bad = [
      act.oracleProof([first, first + 1n, first + 2n]),
      act.oracleProof([first, first + 1n, first + 3n]),
      act.oracleProof([first, first + 1n, first + 99n]),
      encodeAbiParameters([{ type: "uint256[3]" }], [[first, first + 1n, 2n ** 80n]]),
      `${act.oracleProof([first, first, first])}00`,
    ] as const;
    for (const proof of bad) await expectRevert(submit(policyId, proof), "ORACLE_INVALID");
  });

  test("ORACLE_STALE when the newest round of the proof is more than an hour old", async () => {
    const policyId = await buy(btc24);
    const limit = await act.triggerPrice(protocol(), btc24, policyId);
    const proof = await threeRounds(limit);
    const { updatedAt } = await act.latestRound(protocol(), "BTC");
    await act.nextBlockAt(protocol(), updatedAt + HOUR + 1n);
    await expectRevert(submit(policyId, proof, btc24), "ORACLE_STALE");
  });

  test("WINDOW_EXPIRED after the window", async () => {
    const policyId = await buy();
    const end = (await act.chainTime(protocol())) + HOUR;
    const proof = await threeRounds(LIMIT);
    await act.nextBlockAt(protocol(), end + 1n);
    await expectRevert(submit(policyId, proof), "WINDOW_EXPIRED");
  });

  test("Already triggered for a paid policy", async () => {
    const policyId = await buy();
    const proof = await threeRounds(LIMIT);
    await submit(policyId, proof);
    await expectRevert(submit(policyId, proof), "Already triggered");
  });

  test("Policy not found for an unknown policy or product", async () => {
    const proof = await threeRounds(LIMIT);
    await expectRevert(submit(7n, proof), "Policy not found");
    const productId = toHex("none", { size: 32 });
    await expectRevert(submit(1n, proof, { ...btc1h, productId }), "Policy not found");
  });

  test("SEQUENCER_DOWN while the sequencer is down or has just recovered", async () => {
    const policyId = await buy(btc24);
    const limit = await act.triggerPrice(protocol(), btc24, policyId);
    const now = await act.chainTime(protocol());
    for (const down of [true, false]) {
      await act.setSequencer(protocol(), owner, { down, startedAt: now });
      await expectRevert(submit(policyId, await threeRounds(limit), btc24), "SEQUENCER_DOWN");
    }
    await travel(protocol(), HOUR + 1n);
    expect((await submit(policyId, await threeRounds(limit), btc24)).usdAmount).toBe(800n);
  });
});
