/** Redemptions: time, amount and price, the week's cap and the holder's share of it. */
import { encodeFunctionData, erc20Abi, parseEther } from "viem";
import { describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { namesOf } from "./log-order.ts";
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
const { bondsOf, ofWeek, redeemedBy, tokensOf, vault } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");
const WEEK = 7n * DAY;
const TWO_YEARS = 730n * DAY;
/** A tenth of 1.08 % of 7,000,000 USD. */
const SHARE = 7_560n;

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

const preview = (dollars: bigint) =>
  protocol().client.readContract({
    abi: bondVaultAbi,
    address: protocol().deployment.contracts.bondVault,
    functionName: "previewRedemption",
    args: [dollars],
  });

describe("a redemption", () => {
  test("pays tokens at the current price and burns only the redeemed bonds", async () => {
    const epochId = await maturedBondsFor(alice, 800n);
    await act.setTokenPrice(protocol(), owner, "0.25");
    expect(await preview(500n)).toBe(2_000n * TOKEN);
    const redemption = await act.redeem(protocol(), alice, epochId, 500n);
    expect(redemption).toMatchObject({ state: "paid", tokenAmount: 2_000n * TOKEN, price: 25n * 10n ** 16n });
    expect(namesOf(redemption.receipt)).toEqual([
      "TransferSingle",
      "BondsBurned",
      "Transfer",
      "BondRedeemed",
    ]);
    expect(await tokensOf(alice.address)).toBe(2_000n * TOKEN);
    expect(await bondsOf(alice.address, epochId)).toBe(300n);
    expect(await vault("totalCommittedUSD")).toBe(300n * TOKEN);
    const week = await vault("currentEpoch");
    expect(await ofWeek("redeemedInEpoch", week)).toBe(500n * TOKEN);
    expect(await redeemedBy(week, alice.address)).toBe(500n * TOKEN);
    expect(act.onlyEvent(redemption.receipt, claimBondAbi, "BondsBurned").args).toEqual({
      epochId,
      from: alice.address,
      usdAmount: 500n,
    });
  });

  test("pays the tokens of a price that divides nothing evenly rounded down", async () => {
    await act.setTokenPrice(protocol(), owner, "0.07");
    expect(await preview(1n)).toBe(14_285_714_285_714_285_714n);
  });

  test("reverts with Not matured until the last second of the month 730 days after the issue, and for unknown epochs", async () => {
    const { epochId } = await bondsFor(alice, 800n);
    await travel(protocol(), TWO_YEARS);
    await expectRevert(act.redeem(protocol(), alice, epochId, 800n), "Not matured");
    await expectRevert(act.redeem(protocol(), alice, 202_001n, 1n), "Not matured");
    const maturity = await act.maturityDate(protocol(), epochId);
    await act.nextBlockAt(protocol(), maturity - 1n);
    await expectRevert(act.redeem(protocol(), alice, epochId, 800n), "Not matured");
    await act.nextBlockAt(protocol(), maturity);
    expect((await act.redeem(protocol(), alice, epochId, 800n)).state).toBe("paid");
  });

  test("reverts with the first of several reasons", async () => {
    const { epochId } = await bondsFor(alice, 8_000n);
    await act.setPriceStale(protocol(), owner, true);
    await expectRevert(act.redeem(protocol(), alice, epochId, 0n), "Zero amount");
    await expectRevert(act.redeem(protocol(), alice, epochId, 8_001n), "Not matured");
    await matureAt(epochId);
    await expectRevert(act.redeem(protocol(), alice, epochId, 8_001n), "Insufficient bonds");
    await expectRevert(act.redeem(protocol(), bob, epochId, 1n), "Insufficient bonds");
    await expectRevert(act.redeem(protocol(), alice, epochId, 8_000n), "ORACLE_UNAVAILABLE");
    await act.setPriceStale(protocol(), owner, false);
    await act.setTokenPrice(protocol(), owner, "0.00099999");
    await expectRevert(act.redeem(protocol(), alice, epochId, 8_000n), "Price too low");
    await act.setTokenPrice(protocol(), owner, "0.1");
    await expectRevert(act.redeem(protocol(), alice, epochId, 8_000n), "User epoch limit");
  });

  test("is possible at 0.001 USD, and tells that the price is below the floor until it has risen by a fifth", async () => {
    const epochId = await maturedBondsFor(alice, 80n);
    const names = async () => namesOf((await act.redeem(protocol(), alice, epochId, 1n)).receipt).slice(4);
    await act.setTokenPrice(protocol(), owner, "0.001");
    expect(await preview(1n)).toBe(1_000n * TOKEN);
    expect(await names()).toEqual(["FloorPriceBreached", "PoliciesPausedSet"]);
    expect(await names()).toEqual([]);
    await act.setTokenPrice(protocol(), owner, "0.00599999");
    expect(await names()).toEqual([]);
    await act.setTokenPrice(protocol(), owner, "0.006");
    expect(await names()).toEqual(["PoliciesPausedSet"]);
  });

  test("does not stop with the global pause", async () => {
    const epochId = await maturedBondsFor(alice, 80n);
    await act.setGlobalPause(protocol(), owner, true);
    expect((await act.redeem(protocol(), alice, epochId, 80n)).state).toBe("paid");
  });
});

describe("the throttle", () => {
  test("allows a holder exactly a tenth of the week's cap", async () => {
    const epochId = await maturedBondsFor(alice, 20_000n);
    expect(await vault("maxRedeemThisEpoch")).toBe(75_600n);
    await expectRevert(act.redeem(protocol(), alice, epochId, SHARE + 1n), "User epoch limit");
    expect((await act.redeem(protocol(), alice, epochId, 7_000n)).state).toBe("paid");
    // The paid tokens have lowered the reserve, and with it the cap: a tenth of it is 7,552.44 USD.
    expect(await vault("maxRedeemThisEpoch")).toBe(75_524n);
    await expectRevert(act.redeem(protocol(), alice, epochId, 553n), "User epoch limit");
    expect((await act.redeem(protocol(), alice, epochId, 552n)).state).toBe("paid");
    await travel(protocol(), WEEK);
    expect((await act.redeem(protocol(), alice, epochId, 7_500n)).state).toBe("paid");
  });

  test("is that of the reserve's value at the time of the call", async () => {
    const { protocolToken, bondVault } = protocol().deployment.contracts;
    await act.setTokenPrice(protocol(), owner, "0.2");
    expect(await vault("maxRedeemThisEpoch")).toBe(151_200n);
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [bondVault, parseEther("7000000")],
    });
    await act.send(protocol(), owner, protocolToken, data);
    expect(await vault("maxRedeemThisEpoch")).toBe(166_320n);
  });

  test("queues what exceeds the week's cap for the next week and burns its bonds at once", async () => {
    for (const account of [alice, bob]) await bondsFor(account, 8_000n);
    const { epochId } = await bondsFor(bob, 80n);
    await matureAt(epochId);
    const week = await vault("currentEpoch");
    await act.redeem(protocol(), alice, epochId, 7_000n);
    // 7,552 USD are the cap, and 755 a holder's share.
    await act.setTokenPrice(protocol(), owner, "0.01");
    const before = await vault("availableCapacityUSD");
    const queued = await act.redeem(protocol(), bob, epochId, 600n);
    expect(queued).toMatchObject({ state: "queued", week: week + 1n });
    expect(namesOf(queued.receipt)).toEqual(["TransferSingle", "BondsBurned", "BondQueued"]);
    expect(await bondsOf(bob.address, epochId)).toBe(7_480n);
    expect(await tokensOf(bob.address)).toBe(0n);
    expect(await vault("totalCommittedUSD")).toBe(8_480n * TOKEN);
    expect(await vault("totalQueuedUSD")).toBe(600n * TOKEN);
    // The debt remains, so the capacity does not rise.
    expect(await vault("availableCapacityUSD")).toBe(before);
    expect(await ofWeek("redeemedInEpoch", week)).toBe(7_000n * TOKEN);
    // The queued amount counts for the share. A smaller redemption is paid at once all the same.
    await expectRevert(act.redeem(protocol(), bob, epochId, 156n), "User epoch limit");
    expect((await act.redeem(protocol(), bob, epochId, 155n)).state).toBe("paid");
  });
});
