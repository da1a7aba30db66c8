/** Each rule of an observation, by submitTrigger and by performUpkeep. */
import { hexToString } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { catalogueTerms, termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { bothWays, observed, outcomesOf, submitted } from "./evaluation.ts";
import { readsOf } from "./reads.ts";
import {
  alice,
  bob,
  DAY,
  expectRevert,
  HOUR,
  owner,
  relayer,
  stranger,
  USDC,
  useProtocol,
} from "./support.ts";

const protocol = useProtocol();
const { policy } = readsOf(protocol);
const btc24 = termsOf("FLASHBTC24-001");
/** BTC starts at 60,000 USD, so a drop of 6 % is 56,400. */
const LIMIT = 56_400_00000000n;
const HIGH = LIMIT + 1n;
/** Code that reverts without a reason. */
const REVERTS = "0x5f5ffd";

const buy = async (account = alice) =>
  (await act.purchase(protocol(), account, btc24, 1_000n * USDC)).policyId;
const cover = (policyId: bigint) => act.coverOf(protocol(), btc24, policyId);
const countOf = async (policyId: bigint) => (await cover(policyId)).count;
/** Adds a round at this time. */
async function push(price: bigint, at?: bigint) {
  if (at !== undefined) await act.nextBlockAt(protocol(), at);
  await act.pushPrice(protocol(), owner, "BTC", price);
}
const both = (policyId: bigint, at?: bigint) => bothWays(protocol(), btc24, policyId, at);
const observe = (policyId: bigint, at?: bigint) => observed(protocol(), btc24, policyId, at);
const submit = (policyId: bigint, at?: bigint) => submitted(protocol(), btc24, policyId, at);
const evaluable = async (policyId: bigint) =>
  protocol().client.readContract({
    abi: flashShieldAbi,
    address: (await cover(policyId)).shield,
    functionName: "oracleEvaluable",
  });

describe("a price at the barrier", () => {
  test.each(catalogueTerms)("triggers $name at its third observation, in bonds of 80 %", async (terms) => {
    const { policyId } = await act.purchase(protocol(), alice, terms, 1_000n * USDC);
    const { usdAmount, holder, receipt } = await act.trigger(protocol(), stranger, terms, policyId);
    expect([usdAmount, holder]).toEqual([800n, alice.address]);
    const { reason } = act.onlyEvent(receipt, policyManagerAbi, "PolicyTriggered").args;
    expect(hexToString(reason, { size: 32 })).toBe("SETTLED_BY_KEEPER");
  });

  test.each([
    ["a relayer", relayer],
    ["the owner", owner],
  ])("is paid by %s with the third observation, and not before", async (_, account) => {
    const policyId = await buy();
    const { start } = await cover(policyId);
    const submitBy = () => act.submitTrigger(protocol(), account, btc24, policyId);
    for (const [i, count] of [1, 2].entries()) {
      await push(LIMIT, start + 300n + 100n * BigInt(i));
      await expectRevert(submitBy(), "Trigger not met");
      expect(await countOf(policyId)).toBe(i);
      expect(await observe(policyId)).toBe("ACCRUING");
      expect(await countOf(policyId)).toBe(count);
    }
    await push(LIMIT, start + 500n);
    const { receipt, usdAmount } = await submitBy();
    expect(usdAmount).toBe(800n);
    expect(act.onlyEvent(receipt, coverRouterAbi, "TriggerSubmitted").args.submitter).toBe(account.address);
    const { reason } = act.onlyEvent(receipt, policyManagerAbi, "PolicyTriggered").args;
    expect(hexToString(reason, { size: 32 })).toBe("TRIGGER_DROP");
  });

  test("is not submitted by a stranger", async () => {
    const policyId = await buy();
    await act.observeTwice(protocol(), stranger, btc24, policyId);
    await expectRevert(
      act.submitTrigger(protocol(), stranger, btc24, policyId),
      `NotAuthorizedRelayer(${stranger.address})`,
    );
  });

  test("counts though sales are paused by the owner, the registry and both switches of the product", async () => {
    const policyId = await buy();
    await act.setRouterPaused(protocol(), owner, true);
    await act.setGlobalPause(protocol(), owner, true);
    await act.setProductActive(protocol(), owner, btc24.productId, false);
    await act.deactivateProduct(protocol(), owner, btc24.productId);
    await act.observeTwice(protocol(), stranger, btc24, policyId);
    expect(await both(policyId)).toEqual(["paid", "TRIGGER_DROP"]);
  });
});

describe("row 1:", () => {
  test("a policy that does not exist, was paid or has expired", async () => {
    expect(await both(1n)).toEqual(["Policy not found", "POLICY_NOT_FOUND"]);
    const [paid, expired] = [await buy(), await buy()];
    await act.trigger(protocol(), stranger, btc24, paid);
    expect(await both(paid)).toEqual(["Already triggered", "ALREADY_FINALIZED"]);
    await act.timeTravel(protocol(), DAY + 1n);
    await act.refreshFeeds(protocol(), owner);
    await act.markExpired(protocol(), stranger, btc24, expired);
    expect(await both(expired)).toEqual(["Already expired", "ALREADY_FINALIZED"]);
  });
});

describe("row 2:", () => {
  test("the first 300 seconds, whatever the sequencer and the price are", async () => {
    const policyId = await buy();
    const { start } = await cover(policyId);
    await push(LIMIT);
    const early = ["DWELL_NOT_ELAPSED", "NOT_SETTLEABLE_YET"];
    expect(await both(policyId, start + 298n)).toEqual(early);
    const saved = await act.snapshot(protocol());
    expect(await both(policyId, start + 299n)).toEqual(early);
    await act.revertTo(protocol(), saved);
    expect(await both(policyId, start + 300n)).toEqual(["Trigger not met", "ACCRUING"]);
  });

  test("comes before the sequencer's state", async () => {
    const policyId = await buy();
    await act.setSequencer(protocol(), owner, { down: true, startedAt: 1n });
    expect(await both(policyId)).toEqual(["DWELL_NOT_ELAPSED", "NOT_SETTLEABLE_YET"]);
  });
});

describe("after the dwell,", () => {
  let policyId = 0n;
  beforeEach(async () => {
    policyId = await buy();
    await push(LIMIT, (await cover(policyId)).start + 300n);
  });
  const unavailable = (reason: string) => [reason, "ORACLE_UNAVAILABLE"];

  test("row 3: the sequencer is down, or up for an hour at most; before the price", async () => {
    const now = await act.chainTime(protocol());
    await act.setSequencer(protocol(), owner, { down: true, startedAt: 1n });
    await push(0n);
    expect(await both(policyId)).toEqual(unavailable("SEQUENCER_DOWN"));
    expect(await evaluable(policyId)).toBe(false);
    await act.setSequencer(protocol(), owner, { down: false, startedAt: now });
    await push(LIMIT, now + HOUR - 10n);
    expect(await both(policyId, now + HOUR)).toEqual(unavailable("SEQUENCER_DOWN"));
    expect(await both(policyId, now + HOUR + 1n)).toEqual(["Trigger not met", "ACCRUING"]);
    expect(await evaluable(policyId)).toBe(true);
  });

  test.each([
    ["ORACLE_INVALID", 0n, undefined],
    ["ORACLE_INVALID", -1n, undefined],
    ["ORACLE_ROUND_NOT_COMPLETE", LIMIT, 0n],
    ["ORACLE_FUTURE_TS", LIMIT, 4_000_000_000n],
  ])("row 4: %s for a round with answer %d at %s", async (reason, answer, updatedAt) => {
    await act.pushPrice(protocol(), owner, "BTC", answer, updatedAt);
    expect(await both(policyId)).toEqual(unavailable(reason));
    expect(await evaluable(policyId)).toBe(false);
    expect(await countOf(policyId)).toBe(0);
  });

  test("row 4: ORACLE_INCOMPLETE_ROUND for a round that was answered in an earlier one", async () => {
    await act.setIncompleteRound(protocol(), "BTC");
    expect(await both(policyId)).toEqual(unavailable("ORACLE_INCOMPLETE_ROUND"));
    expect(await evaluable(policyId)).toBe(false);
    expect(await countOf(policyId)).toBe(0);
  });

  test("row 7: a round older than an hour, before its price", async () => {
    const now = await act.chainTime(protocol());
    await push(HIGH, now + 10n);
    const saved = await act.snapshot(protocol());
    expect(await both(policyId, now + 10n + HOUR)).toEqual(["Trigger not met", "RESET"]);
    expect(await evaluable(policyId)).toBe(true);
    await act.revertTo(protocol(), saved);
    expect(await both(policyId, now + 11n + HOUR)).toEqual(unavailable("ORACLE_STALE"));
    expect(await evaluable(policyId)).toBe(false);
  });

  test("row 8: a price above the barrier resets the count, also within 60 seconds and in the same round", async () => {
    expect(await observe(policyId)).toBe("ACCRUING");
    await push(HIGH);
    expect(await both(policyId)).toEqual(["Trigger not met", "RESET"]);
    expect(await countOf(policyId)).toBe(0);
    // The count starts again at once: rounds and times of observations before a reset do not matter.
    await push(LIMIT);
    expect(await both(policyId)).toEqual(["Trigger not met", "ACCRUING"]);
    expect(await countOf(policyId)).toBe(1);
  });

  test("row 8: a reset between two observations and the third costs both", async () => {
    await act.observeTwice(protocol(), stranger, btc24, policyId);
    await push(HIGH);
    expect(await observe(policyId)).toBe("RESET");
    await push(LIMIT, (await act.chainTime(protocol())) + 60n);
    expect(await both(policyId)).toEqual(["Trigger not met", "ACCRUING"]);
  });

  test("row 8: a price above the barrier that nobody observes resets nothing", async () => {
    expect(await observe(policyId)).toBe("ACCRUING");
    await push(HIGH);
    await push(LIMIT, (await act.chainTime(protocol())) + 60n);
    expect(await observe(policyId)).toBe("ACCRUING");
    expect(await countOf(policyId)).toBe(2);
  });

  test("row 9: one observation in a block, which is checked first", async () => {
    const receipt = await act.observe(protocol(), stranger, btc24, [policyId, policyId]);
    expect(outcomesOf(receipt)).toEqual(["ACCRUING", "NOT_SETTLEABLE_YET"]);
    expect(await countOf(policyId)).toBe(1);
    // A simulation in the newest block has its number and time.
    const simulated = protocol().client.simulateContract({
      abi: coverRouterAbi,
      address: protocol().deployment.contracts.coverRouter,
      functionName: "submitTrigger",
      args: [btc24.productId, policyId, "0x"],
      account: relayer.address,
      blockNumber: receipt.blockNumber,
    });
    await expect(simulated).rejects.toThrow("SAME_BLOCK_OBSERVATION");
  });

  test("row 9: one observation of a round, by its update time, and before the 60 seconds", async () => {
    expect(await observe(policyId)).toBe("ACCRUING");
    const { updatedAt } = await act.latestRound(protocol(), "BTC");
    const stale = ["STALE_ROUND_OBSERVATION", "NOT_SETTLEABLE_YET"];
    expect(await both(policyId)).toEqual(stale);
    expect(await both(policyId, (await act.chainTime(protocol())) + 60n)).toEqual(stale);
    await act.pushPrice(protocol(), owner, "BTC", LIMIT, updatedAt);
    expect(await both(policyId)).toEqual(stale);
    await act.pushPrice(protocol(), owner, "BTC", LIMIT, updatedAt + 1n);
    expect(await both(policyId)).toEqual(["Trigger not met", "ACCRUING"]);
  });

  test("row 9: 60 seconds between two observations", async () => {
    expect(await observe(policyId)).toBe("ACCRUING");
    const first = await act.chainTime(protocol());
    await push(LIMIT, first + 1n);
    const soon = ["CONFIRMATION_TOO_SOON", "NOT_SETTLEABLE_YET"];
    expect(await both(policyId)).toEqual(soon);
    expect(await both(policyId, first + 59n)).toEqual(soon);
    expect(await both(policyId, first + 60n)).toEqual(["Trigger not met", "ACCRUING"]);
    expect(await countOf(policyId)).toBe(2);
  });

  test("rows 10 and 11: two observations accrue, the third pays", async () => {
    for (const expected of [
      ["Trigger not met", "ACCRUING"],
      ["Trigger not met", "ACCRUING"],
      ["paid", "TRIGGER_DROP"],
    ]) {
      expect(await both(policyId)).toEqual(expected);
      await push(LIMIT, (await act.chainTime(protocol())) + 60n);
    }
  });

  test("row 12: a price oracle that is down leaves the count at 2, and the payout is tried again", async () => {
    await act.observeTwice(protocol(), stranger, btc24, policyId);
    await act.setPriceStale(protocol(), owner, true);
    for (let i = 0; i < 2; i++) {
      expect(await both(policyId)).toEqual(["OracleStale(3601, 3600)", "OracleStale(3601, 3600)"]);
      expect(await countOf(policyId)).toBe(2);
    }
    await act.setPriceStale(protocol(), owner, false);
    expect(await both(policyId)).toEqual(["paid", "TRIGGER_DROP"]);
  });

  test("row 12: a payout above the vault's limit fails", async () => {
    await act.observeTwice(protocol(), stranger, btc24, policyId);
    await act.setTokenPrice(protocol(), owner, "0.00001");
    expect(await both(policyId)).toEqual(["Exceeds capacity", "Exceeds capacity"]);
    expect(await countOf(policyId)).toBe(2);
  });

  test("row 12: a buyer that takes no ERC-1155 is not paid, and holds up no other policy", async () => {
    await push(60_000_00000000n);
    const second = await buy(bob);
    await push(LIMIT, (await cover(second)).start + 300n);
    const pair = [second, policyId];
    const failure = `ERC1155InvalidReceiver(${bob.address})`;
    for (const expected of [
      ["ACCRUING", "ACCRUING"],
      ["ACCRUING", "ACCRUING"],
      [failure, "TRIGGER_DROP"],
    ]) {
      await act.setCode(protocol(), bob.address, REVERTS);
      expect(outcomesOf(await act.observe(protocol(), stranger, btc24, pair))).toEqual(expected);
      await push(LIMIT, (await act.chainTime(protocol())) + 60n);
    }
    expect(await submit(second)).toBe(failure);
    expect(await countOf(second)).toBe(2);
    await act.setCode(protocol(), bob.address, "0x");
    expect(await both(second)).toEqual(["paid", "TRIGGER_DROP"]);
  });
});
describe("the end of the window:", () => {
  /** A policy with two observations and a third, low round at its end. */
  async function almostTriggered() {
    const policyId = await buy();
    const { expiresAt } = await cover(policyId);
    await act.observeTwice(protocol(), stranger, btc24, policyId);
    await push(LIMIT, expiresAt - 10n);
    return { policyId, end: expiresAt };
  }

  test("the third observation pays in the last second", async () => {
    const { policyId, end } = await almostTriggered();
    expect(await both(policyId, end)).toEqual(["paid", "TRIGGER_DROP"]);
  });

  test("row 6: one second later the policy expires, whatever its count and the price are", async () => {
    const { policyId, end } = await almostTriggered();
    expect(await both(policyId, end + 1n)).toEqual(["WINDOW_EXPIRED", "WINDOW_EXPIRED"]);
    expect(await cover(policyId)).toMatchObject({ count: 2, finalized: true });
    const { expired, triggered } = await policy(btc24.productId, policyId);
    expect([expired, triggered]).toEqual([true, false]);
  });

  test("row 5: a day after the feed's last round it cannot expire; before row 6, after rows 3 and 4", async () => {
    const { policyId, end } = await almostTriggered();
    const last = end - 10n;
    const saved = await act.snapshot(protocol());
    expect(await both(policyId, last + DAY)).toEqual(["WINDOW_EXPIRED", "WINDOW_EXPIRED"]);
    await act.revertTo(protocol(), saved);
    expect(await both(policyId, last + DAY + 1n)).toEqual(["ORACLE_UNAVAILABLE", "ORACLE_UNAVAILABLE"]);
    await act.pushPrice(protocol(), owner, "BTC", 0n, last);
    expect(await both(policyId)).toEqual(["ORACLE_INVALID", "ORACLE_UNAVAILABLE"]);
    await act.setSequencer(protocol(), owner, { down: true, startedAt: 1n });
    expect(await both(policyId)).toEqual(["SEQUENCER_DOWN", "ORACLE_UNAVAILABLE"]);
  });
});
