/** The redemption queue: who is paid when, in which order, at which price. */
import { erc20Abi, parseEventLogs } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import * as act from "../../scripts/local/protocol/actions/index.ts";
import {
  alice,
  bob,
  DAY,
  expectRevert,
  owner,
  stranger,
  TOKEN,
  termsOf,
  travel,
  USDC,
  useProtocol,
} from "./support.ts";

const protocol = useProtocol();
const btc1h = termsOf("FLASHBTC1H-001");
const WEEK = 7n * DAY;
let epochId = 0n;

const vault = (functionName: "obligations" | "queueHead" | "queueLength" | "currentEpoch" | "queuedUsd") =>
  protocol().client.readContract({
    abi: bondVaultAbi,
    address: protocol().deployment.contracts.bondVault,
    functionName,
  });
const tokens = (account: `0x${string}`) =>
  protocol().client.readContract({
    abi: erc20Abi,
    address: protocol().deployment.contracts.protocolToken,
    functionName: "balanceOf",
    args: [account],
  });
const process = async () => act.processQueue(protocol(), stranger, await vault("currentEpoch"));

/** Alice and Bob hold 200,000 USD of matured bonds each, and a week begins. At 0.10 USD it pays 54,000 USD. */
beforeEach(async () => {
  for (const account of [alice, bob]) {
    const { policyId } = await act.purchase(protocol(), account, btc1h, 250_000n * USDC);
    ({ epochId } = await act.trigger(protocol(), stranger, btc1h, policyId));
  }
  await act.mineAt(protocol(), ((await act.maturityDate(protocol(), epochId)) / WEEK + 1n) * WEEK);
  await act.refreshFeeds(protocol(), owner);
});

describe("processing", () => {
  test("pays an entry in the next week, not before, at the price of that day", async () => {
    await act.redeem(protocol(), alice, epochId, 30_000n);
    const queued = await act.redeem(protocol(), alice, epochId, 40_000n);
    expect(queued.state).toBe("queued");
    const week = await vault("currentEpoch");
    await expectRevert(
      act.processQueue(protocol(), stranger, week + 1n),
      `EpochNotReached(${week + 1n}, ${week})`,
    );
    expect(await process()).toEqual([]);
    await travel(protocol(), WEEK);
    await act.pushPrice(protocol(), owner, "token", 20_000_000n);
    const before = await tokens(alice.address);
    // Whoever asks, the entries of earlier weeks are due.
    expect(await process()).toEqual([1n]);
    expect((await tokens(alice.address)) - before).toBe(200_000n * TOKEN);
    expect(await vault("obligations")).toBe(330_000n);
    expect(await process()).toEqual([]);
  });

  test("emits QueueProcessed and no BondRedeemed", async () => {
    await act.redeem(protocol(), alice, epochId, 60_000n);
    await travel(protocol(), WEEK);
    await process();
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
    // 20,000 + 40,000 are above the week's throttle; the last entry would fit and must wait behind.
    expect(await process()).toEqual([1n]);
    expect(await process()).toEqual([]);
    await travel(protocol(), WEEK);
    expect(await process()).toEqual([2n, 3n]);
    expect(await vault("queueHead")).toBe(3n);
    expect(await vault("queuedUsd")).toBe(0n);
  });

  test("an entry above a whole week's throttle is paid as the first of a week, or it would wait for ever", async () => {
    await act.redeem(protocol(), alice, epochId, 150_000n);
    await act.redeem(protocol(), bob, epochId, 54_001n);
    await travel(protocol(), WEEK);
    expect(await process()).toEqual([1n]);
    expect(await process()).toEqual([]);
    await travel(protocol(), WEEK);
    expect(await process()).toEqual([2n]);
  });

  test("a new redemption does not overtake what is due", async () => {
    await act.redeem(protocol(), alice, epochId, 54_000n);
    await act.redeem(protocol(), alice, epochId, 50_000n);
    await travel(protocol(), WEEK);
    // The week has room for 53,400 USD, of which 50,000 are spoken for.
    expect((await act.redeem(protocol(), bob, epochId, 5_000n)).state).toBe("queued");
    expect((await act.redeem(protocol(), bob, epochId, 3_000n)).state).toBe("paid");
    expect(await process()).toEqual([1n]);
    await travel(protocol(), WEEK);
    expect(await process()).toEqual([2n]);
  });

  test("pays what an earlier week left, when weeks passed without anybody asking", async () => {
    await act.redeem(protocol(), alice, epochId, 60_000n);
    const target = (await vault("currentEpoch")) + 1n;
    await travel(protocol(), 5n * WEEK);
    expect(await act.processQueue(protocol(), stranger, target - 1n)).toEqual([]);
    expect(await act.processQueue(protocol(), stranger, target)).toEqual([1n]);
  });

  test("Insufficient reserve while the first entry is worth more than all tokens, Price too low below the minimum", async () => {
    await act.redeem(protocol(), alice, epochId, 60_000n);
    await travel(protocol(), WEEK);
    await act.pushPrice(protocol(), owner, "token", 100_000n);
    await expectRevert(process(), "Insufficient reserve");
    await act.pushPrice(protocol(), owner, "token", 99_999n);
    await expectRevert(process(), "Price too low");
    await act.pushPrice(protocol(), owner, "token", 10_000_000n);
    expect(await process()).toEqual([1n]);
  });

  test("pays at most fifty entries in one call, and the rest in the next", async () => {
    await act.redeem(protocol(), alice, epochId, 54_000n);
    for (let i = 0; i < 52; i++) await act.redeem(protocol(), bob, epochId, 1n);
    await travel(protocol(), WEEK);
    expect((await process()).length).toBe(50);
    expect(await process()).toEqual([51n, 52n]);
  });
});
