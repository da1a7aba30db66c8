/** The redemption queue: time, order and price of its payments. */
import { parseEventLogs } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { readsOf } from "./reads.ts";
import {
  alice,
  bob,
  DAY,
  expectRevert,
  owner,
  stranger,
  TOKEN,
  travel,
  USDC,
  useProtocol,
} from "./support.ts";

const protocol = useProtocol();
const { tokensOf, vault } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");
const WEEK = 7n * DAY;
let epochId = 0n;

const processQueue = async () => act.processQueue(protocol(), stranger, await vault("currentEpoch"));

/** Alice and Bob each hold 200,000 USD of matured bonds at the start of a week. At 0.10 USD it pays 54,000 USD. */
beforeEach(async () => {
  for (const account of [alice, bob]) {
    const { policyId } = await act.purchase(protocol(), account, btc1h, 250_000n * USDC);
    ({ epochId } = await act.trigger(protocol(), stranger, btc1h, policyId));
  }
  await act.mineAt(protocol(), ((await act.maturityDate(protocol(), epochId)) / WEEK + 1n) * WEEK);
  await act.refreshFeeds(protocol(), owner);
});

describe("processing", () => {
  test("pays an entry in the next week, not earlier, at the current price", async () => {
    await act.redeem(protocol(), alice, epochId, 30_000n);
    const queued = await act.redeem(protocol(), alice, epochId, 40_000n);
    expect(queued.state).toBe("queued");
    const week = await vault("currentEpoch");
    await expectRevert(
      act.processQueue(protocol(), stranger, week + 1n),
      `EpochNotReached(${week + 1n}, ${week})`,
    );
    expect(await processQueue()).toEqual([]);
    await travel(protocol(), WEEK);
    await act.pushPrice(protocol(), owner, "token", 20_000_000n);
    const before = await tokensOf(alice.address);
    // Any account may pay due entries.
    expect(await processQueue()).toEqual([1n]);
    expect((await tokensOf(alice.address)) - before).toBe(200_000n * TOKEN);
    expect(await vault("obligations")).toBe(330_000n);
    expect(await processQueue()).toEqual([]);
  });

  test("emits QueueProcessed and no BondRedeemed", async () => {
    await act.redeem(protocol(), alice, epochId, 60_000n);
    await travel(protocol(), WEEK);
    await processQueue();
    const { number } = await protocol().client.getBlock();
    const logs = await protocol().client.getLogs({
      address: protocol().deployment.contracts.bondVault,
      fromBlock: number,
    });
    const events = parseEventLogs({ abi: bondVaultAbi, logs });
    expect(events.map((e) => e.eventName)).toEqual(["ObligationsDecreased", "QueueProcessed"]);
    expect(events[1]?.args).toEqual({
      queueId: 1n,
      holder: alice.address,
      tokenAmount: 600_000n * TOKEN,
      priceUsed: 10n ** 17n,
    });
  });

  test("keeps the order and stays within the week's throttle", async () => {
    await act.redeem(protocol(), alice, epochId, 54_000n);
    await act.redeem(protocol(), bob, epochId, 20_000n);
    await act.redeem(protocol(), alice, epochId, 40_000n);
    await act.redeem(protocol(), bob, epochId, 1_000n);
    expect(await vault("queueLength")).toBe(3n);
    await travel(protocol(), WEEK);
    // 20,000 + 40,000 exceed the week's throttle. The last entry would fit, but stays behind the second.
    expect(await processQueue()).toEqual([1n]);
    expect(await processQueue()).toEqual([]);
    await travel(protocol(), WEEK);
    expect(await processQueue()).toEqual([2n, 3n]);
    expect(await vault("queueHead")).toBe(3n);
    expect(await vault("queuedUsd")).toBe(0n);
  });

  test("pays an entry above a week's throttle if it is the first of the week, as it would otherwise never be paid", async () => {
    await act.redeem(protocol(), alice, epochId, 150_000n);
    await act.redeem(protocol(), bob, epochId, 54_001n);
    await travel(protocol(), WEEK);
    expect(await processQueue()).toEqual([1n]);
    expect(await processQueue()).toEqual([]);
    await travel(protocol(), WEEK);
    expect(await processQueue()).toEqual([2n]);
  });

  test("pays due entries before new redemptions", async () => {
    await act.redeem(protocol(), alice, epochId, 54_000n);
    await act.redeem(protocol(), alice, epochId, 50_000n);
    await travel(protocol(), WEEK);
    // The week pays 53,400 USD, and 50,000 of them are due to the queue.
    expect((await act.redeem(protocol(), bob, epochId, 5_000n)).state).toBe("queued");
    expect((await act.redeem(protocol(), bob, epochId, 3_000n)).state).toBe("paid");
    expect(await processQueue()).toEqual([1n]);
    await travel(protocol(), WEEK);
    expect(await processQueue()).toEqual([2n]);
  });

  test("pays old entries even when nobody processed the queue for weeks", async () => {
    await act.redeem(protocol(), alice, epochId, 60_000n);
    const target = (await vault("currentEpoch")) + 1n;
    await travel(protocol(), 5n * WEEK);
    expect(await act.processQueue(protocol(), stranger, target - 1n)).toEqual([]);
    expect(await act.processQueue(protocol(), stranger, target)).toEqual([1n]);
  });

  test("reverts with Insufficient reserve if the first entry exceeds all tokens, with Price too low below the minimum", async () => {
    await act.redeem(protocol(), alice, epochId, 60_000n);
    await travel(protocol(), WEEK);
    await act.pushPrice(protocol(), owner, "token", 100_000n);
    await expectRevert(processQueue(), "Insufficient reserve");
    await act.pushPrice(protocol(), owner, "token", 99_999n);
    await expectRevert(processQueue(), "Price too low");
    await act.pushPrice(protocol(), owner, "token", 10_000_000n);
    expect(await processQueue()).toEqual([1n]);
  });

  test("pays at most fifty entries in one call, and the rest in the next", async () => {
    await act.redeem(protocol(), alice, epochId, 54_000n);
    for (let i = 0; i < 52; i++) await act.redeem(protocol(), bob, epochId, 1n);
    await travel(protocol(), WEEK);
    expect((await processQueue()).length).toBe(50);
    expect(await processQueue()).toEqual([51n, 52n]);
  });
});
