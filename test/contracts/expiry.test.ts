/** Expiry: who may close a policy, when, and every revert. */
import { beforeEach, describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { outcomesOf } from "./evaluation.ts";
import { readsOf } from "./reads.ts";
import { alice, DAY, expectRevert, HOUR, owner, stranger, TOKEN, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const { policy, vault, reservedFor } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");

const markExpired = (policyId: bigint) => act.markExpired(protocol(), stranger, btc1h, policyId);
const isExpired = async (policyId: bigint) => (await policy(btc1h.productId, policyId)).expired;

let policyId = 0n;
let end = 0n;
beforeEach(async () => {
  ({ policyId } = await act.purchase(protocol(), alice, btc1h, 1_000n * USDC));
  end = (await act.coverOf(protocol(), btc1h, policyId)).expiresAt;
});

describe("any account closes a policy one second after its window, which releases its reservation,", () => {
  test("by markExpired", async () => {
    await act.nextBlockAt(protocol(), end);
    await expectRevert(markExpired(policyId), "Not expired yet");
    await act.nextBlockAt(protocol(), end + 1n);
    const receipt = await markExpired(policyId);
    expect(act.onlyEvent(receipt, policyManagerAbi, "PolicyExpired").args).toEqual({
      ...{ productId: btc1h.productId, policyId },
    });
    expect(act.onlyEvent(receipt, bondVaultAbi, "ReservationReleased").args).toEqual({
      amount: 800n * TOKEN,
      newTotalReserved: 0n,
    });
    expect([await isExpired(policyId), await vault("totalReservedUSD")]).toEqual([true, 0n]);
    await expectRevert(markExpired(policyId), "Already expired");
  });

  test("by performUpkeep, ten at once", async () => {
    const ids = [policyId];
    for (let i = 1; i < 10; i++)
      ids.push((await act.purchase(protocol(), alice, btc1h, 1_000n * USDC)).policyId);
    expect(await vault("totalReservedUSD")).toBe(8_000n * TOKEN);
    await act.timeTravel(protocol(), HOUR + 60n);
    const receipt = await act.observe(protocol(), stranger, btc1h, ids);
    expect(outcomesOf(receipt)).toEqual(Array(10).fill("WINDOW_EXPIRED"));
    expect(await Promise.all(ids.map(isExpired))).toEqual(Array(10).fill(true));
    expect(await Promise.all(ids.map((id) => reservedFor(btc1h.productId, id)))).toEqual(Array(10).fill(0n));
    expect(await vault("totalReservedUSD")).toBe(0n);
  });
});

describe("markExpired reverts with", () => {
  test("Policy not found, Already triggered", async () => {
    await expectRevert(markExpired(9n), "Policy not found");
    await act.trigger(protocol(), stranger, btc1h, policyId);
    await act.timeTravel(protocol(), HOUR);
    await expectRevert(markExpired(policyId), "Already triggered");
  });

  test("OracleUnavailableRetry while the sequencer is not up", async () => {
    await act.mineAt(protocol(), end + 1n);
    const retry = `OracleUnavailableRetry(${btc1h.productId}, ${policyId})`;
    await act.setSequencer(protocol(), owner, { down: true, startedAt: 1n });
    await expectRevert(markExpired(policyId), retry);
    await act.setSequencer(protocol(), owner, { down: false, startedAt: end + 1n });
    await expectRevert(markExpired(policyId), retry);
    expect(await vault("totalReservedUSD")).toBe(800n * TOKEN);
    await act.nextBlockAt(protocol(), end + HOUR + 2n);
    await markExpired(policyId);
  });

  test("OracleUnavailableRetry for a round older than a day, until the feed has a newer one", async () => {
    const { updatedAt } = await act.latestRound(protocol(), "BTC");
    await act.nextBlockAt(protocol(), updatedAt + DAY + 1n);
    await expectRevert(markExpired(policyId), `OracleUnavailableRetry(${btc1h.productId}, ${policyId})`);
    await act.refreshFeeds(protocol(), owner);
    await markExpired(policyId);
  });

  test("OracleUnavailableRetry for a feed that reverts without a reason", async () => {
    await act.mineAt(protocol(), end + 1n);
    await act.setCode(protocol(), protocol().deployment.contracts.btcUsdFeed, "0x5f5ffd");
    await expectRevert(markExpired(policyId), `OracleUnavailableRetry(${btc1h.productId}, ${policyId})`);
  });

  test.each([
    ["ORACLE_INVALID", 0n, undefined],
    ["ORACLE_ROUND_NOT_COMPLETE", 1n, 0n],
    ["ORACLE_FUTURE_TS", 1n, 4_000_000_000n],
  ])("%s as the feed's round has it", async (reason, answer, updatedAt) => {
    await act.mineAt(protocol(), end + 1n);
    await act.pushPrice(protocol(), owner, "BTC", answer, updatedAt);
    await expectRevert(markExpired(policyId), reason);
  });
});
