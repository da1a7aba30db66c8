/** Redemptions: time, amount and price, and the week's throttle. */
import { encodeFunctionData, erc20Abi, parseEther } from "viem";
import { describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
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
const { bondsOf, tokensOf, vault } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");
const WEEK = 7n * DAY;
const TWO_YEARS = 730n * DAY;
/** 50 million tokens at 0.10 USD: 1.08 % of them are 540,000 tokens, 54,000 USD a week. */
const THROTTLE_USD = 54_000n;

/** Triggers a policy that pays `account` this amount of bonds, in dollars. */
async function bondsFor(account: typeof alice, dollars: bigint) {
  const { policyId } = await act.purchase(protocol(), account, btc1h, (dollars * USDC * 10n) / 8n);
  return act.trigger(protocol(), stranger, btc1h, policyId);
}

async function maturedBondsFor(account: typeof alice, dollars: bigint): Promise<bigint> {
  const { epochId } = await bondsFor(account, dollars);
  await matureAt(epochId);
  return epochId;
}

/** Moves time to the first full week after the epoch's maturity, so that a test's redemptions are in one week. */
async function matureAt(epochId: bigint): Promise<void> {
  const nextWeek = ((await act.maturityDate(protocol(), epochId)) / WEEK + 1n) * WEEK;
  await act.mineAt(protocol(), nextWeek);
  await act.refreshFeeds(protocol(), owner);
}

describe("a redemption", () => {
  test("pays tokens at the current price and burns only the redeemed bonds", async () => {
    const epochId = await maturedBondsFor(alice, 800n);
    await act.pushPrice(protocol(), owner, "token", 25_000_000n);
    const [tokenAmount, priceUsed] = await protocol().client.readContract({
      abi: bondVaultAbi,
      address: protocol().deployment.contracts.bondVault,
      functionName: "previewRedemption",
      args: [500n],
    });
    expect([tokenAmount, priceUsed]).toEqual([2_000n * TOKEN, 25n * 10n ** 16n]);
    const redemption = await act.redeem(protocol(), alice, epochId, 500n);
    expect(redemption).toMatchObject({ state: "paid", tokenAmount, price: priceUsed });
    expect(await tokensOf(alice.address)).toBe(tokenAmount);
    expect(await bondsOf(alice.address, epochId)).toBe(300n);
    expect(await vault("obligations")).toBe(300n);
    expect(act.onlyEvent(redemption.receipt, claimBondAbi, "BondsBurned").args).toEqual({
      epochId,
      from: alice.address,
      usdAmount: 500n,
    });
  });

  test("reverts with Not matured until the last second of the month 730 days after the issue, and for unknown epochs", async () => {
    const { epochId } = await bondsFor(alice, 800n);
    await travel(protocol(), TWO_YEARS);
    await expectRevert(act.redeem(protocol(), alice, epochId, 800n), "Not matured");
    await expectRevert(act.redeem(protocol(), alice, 202_001n, 1n), "Not matured");
    const maturity = await act.maturityDate(protocol(), epochId);
    await act.mineAt(protocol(), maturity - 60n);
    await act.refreshFeeds(protocol(), owner);
    await act.nextBlockAt(protocol(), maturity - 1n);
    await expectRevert(act.redeem(protocol(), alice, epochId, 800n), "Not matured");
    await act.nextBlockAt(protocol(), maturity);
    expect((await act.redeem(protocol(), alice, epochId, 800n)).state).toBe("paid");
  });

  test("reverts with Insufficient bonds for more than the holder has, for zero, and for another holder's", async () => {
    const epochId = await maturedBondsFor(alice, 800n);
    await expectRevert(act.redeem(protocol(), alice, epochId, 801n), "Insufficient bonds");
    await expectRevert(act.redeem(protocol(), alice, epochId, 0n), "Insufficient bonds");
    await expectRevert(act.redeem(protocol(), bob, epochId, 1n), "Insufficient bonds");
  });

  test("reverts with Price too low below 0.001 USD, and not at it", async () => {
    const epochId = await maturedBondsFor(alice, 80n);
    await act.pushPrice(protocol(), owner, "token", 99_999n);
    await expectRevert(act.redeem(protocol(), alice, epochId, 80n), "Price too low");
    await act.pushPrice(protocol(), owner, "token", 100_000n);
    expect(await act.redeem(protocol(), alice, epochId, 80n)).toMatchObject({
      state: "paid",
      tokenAmount: 80_000n * TOKEN,
    });
  });

  test("reverts with Insufficient reserve if it needs more tokens than the vault has", async () => {
    const epochId = await maturedBondsFor(alice, 80_000n);
    await act.pushPrice(protocol(), owner, "token", 100_000n);
    await expectRevert(act.redeem(protocol(), alice, epochId, 50_001n), "Insufficient reserve");
    expect((await act.redeem(protocol(), alice, epochId, 50_000n)).state).toBe("queued");
  });

  test("needs a fresh token price and no global pause", async () => {
    const epochId = await maturedBondsFor(alice, 80n);
    await act.setGlobalPause(protocol(), owner, true);
    await expectRevert(act.redeem(protocol(), alice, epochId, 80n), "ContractPaused");
    await act.setGlobalPause(protocol(), owner, false);
    await act.timeTravel(protocol(), 3_601n);
    await expectRevert(act.redeem(protocol(), alice, epochId, 80n), "ORACLE_STALE");
    await act.pushPrice(protocol(), owner, "token", 0n);
    await expectRevert(act.redeem(protocol(), alice, epochId, 80n), "ORACLE_INVALID");
  });
});

describe("the throttle", () => {
  test("allows exactly 1.08 % of the reserve a week", async () => {
    const epochId = await maturedBondsFor(alice, 200_000n);
    expect(await vault("throttleLeft")).toBe(540_000n * TOKEN);
    expect((await act.redeem(protocol(), alice, epochId, THROTTLE_USD - 1n)).state).toBe("paid");
    expect((await act.redeem(protocol(), alice, epochId, 2n)).state).toBe("queued");
    expect((await act.redeem(protocol(), alice, epochId, 1n)).state).toBe("paid");
    expect(await vault("throttleLeft")).toBe(0n);
    await travel(protocol(), WEEK);
    // 1.08 % of the rest.
    expect(await vault("throttleLeft")).toBe(((parseEther("50000000") - 540_000n * TOKEN) * 108n) / 10_000n);
  });

  test("uses the reserve at the start of the week, so later deposits do not raise it", async () => {
    await maturedBondsFor(alice, 80_000n);
    const { protocolToken, bondVault } = protocol().deployment.contracts;
    const amount = parseEther("5000000");
    await act.send(
      protocol(),
      owner,
      protocolToken,
      encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bondVault, amount] }),
    );
    await act.send(
      protocol(),
      owner,
      bondVault,
      encodeFunctionData({ abi: bondVaultAbi, functionName: "deposit", args: [amount] }),
    );
    expect(await vault("throttleLeft")).toBe(540_000n * TOKEN);
  });

  test("queues a larger redemption for the next week and burns its bonds at once", async () => {
    const epochId = await maturedBondsFor(alice, 80_000n);
    const week = await vault("currentEpoch");
    const redemption = await act.redeem(protocol(), alice, epochId, THROTTLE_USD + 1n);
    expect(redemption).toMatchObject({ state: "queued", queueId: 1n, targetEpoch: week + 1n });
    expect(await bondsOf(alice.address, epochId)).toBe(25_999n);
    expect(await tokensOf(alice.address)).toBe(0n);
    // The debt remains, so the capacity does not rise.
    expect(await vault("obligations")).toBe(80_000n);
  });
});
