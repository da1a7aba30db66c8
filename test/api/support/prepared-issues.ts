/**
 * What stands in the way of a prepared action. What this proves: the contracts' every refusal that a caller can meet is an issue before
 * anything is signed, and the simulation agrees: the action reverts exactly while an issue blocks it.
 */
import { encodeFunctionData, erc20Abi, numberToHex, toFunctionSelector } from "viem";
import { beforeAll, expect, test } from "vitest";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import { mockSequencerFeedAbi } from "../../../abis/MockSequencerFeed.ts";
import { termsOf } from "../../../scripts/local/protocol/terms.ts";
import { usdc } from "../../support/ledger.ts";
import * as act from "../../support/protocol-actions.ts";
import { type Action, codesOf, newcomer, type PreparedAnswer, prepare, usdcOf } from "./prepare.ts";
import { alice, bob, owner, type ReportSetup, WEEK } from "./reports.ts";

const btc1h = termsOf("FLASHBTC1H-001");
/** The highest integer of a request: no wallet and no vault has so much. */
const HUGE = String(2n ** 256n - 1n);

/** Leaves the token at a price that is too low, a minute before the end of a week. */
export function preparedIssues(setup: () => ReportSetup): void {
  /** A wallet with ether and nothing else. */
  let poor: string;
  beforeAll(async () => {
    const { chain, protocol } = setup();
    poor = (await newcomer(chain, protocol, 0n)).address;
  });

  /** Prepares the action, and checks that the simulation agrees with the issues. */
  async function issuesOf(action: Action, body: Record<string, string>): Promise<PreparedAnswer["issues"]> {
    const answer = await prepare(setup(), action, body);
    const isBlocked = answer.issues.some(({ blocking }) => blocking);
    const expected = answer.steps.length === 0 ? "unknown" : isBlocked ? "reverts" : "ok";
    expect(answer.simulation.status, JSON.stringify([codesOf(answer), answer.simulation])).toBe(expected);
    return answer.issues;
  }

  const redemption = (more: Record<string, string> = {}) => ({
    from: alice.address,
    epochId: String(setup().matured),
    usdAmount: "10",
    ...more,
  });
  const listing = (more: Record<string, string> = {}) => ({
    from: bob.address,
    epochId: String(setup().fresh),
    amount: "10",
    totalPriceUsdc: String(usdc(10)),
    ...more,
  });
  const purchase = (more: Record<string, string> = {}) => ({
    from: bob.address,
    productName: btc1h.name,
    coverageAmount: String(usdc(100)),
    ...more,
  });
  const trigger = (policyId: bigint) => ({
    from: poor,
    productId: btc1h.productId,
    policyId: String(policyId),
  });

  test("redeem: too few, unknown and immature bonds, the wallet's share of the week, and the week's throttle, which only delays", async () => {
    const { fresh, matured, protocol } = setup();
    expect(await issuesOf("redeem", redemption({ usdAmount: "0" }))).toMatchObject([
      { code: "below_minimum", blocking: true, field: "usdAmount", actual: "0", needed: "1" },
    ]);
    expect(await issuesOf("redeem", redemption({ from: poor }))).toMatchObject([
      { code: "bond_balance", blocking: true, epochId: String(matured), actual: "0", needed: "10" },
    ]);
    const maturesAt = String(await act.maturityDate(protocol, fresh));
    expect(await issuesOf("redeem", redemption({ from: bob.address, epochId: String(fresh) }))).toMatchObject(
      [{ code: "not_mature", blocking: true, maturesAt }],
    );
    expect(await issuesOf("redeem", redemption({ epochId: "209912" }))).toMatchObject([
      { code: "unknown_bond", epochId: "209912" },
      { code: "bond_balance" },
    ]);
    const week = (await act.chainTime(protocol)) / WEEK;
    const nextWeek = { targetEpoch: String(week + 1n), payableFrom: String((week + 1n) * WEEK) };
    const notQueued = { targetEpoch: null, payableFrom: null };
    // More than the wallet's share: 7,560 USD at the start.
    expect(await issuesOf("redeem", redemption({ usdAmount: "8000" }))).toMatchObject([
      { code: "throttled", blocking: true, ...notQueued, needed: String(80_000n * 10n ** 18n) },
    ]);
    expect(await issuesOf("redeem", redemption({ usdAmount: HUGE }))).toMatchObject([
      { code: "bond_balance", needed: HUGE },
      { code: "throttled", blocking: true },
    ]);
    await act.redeem(protocol, owner, matured, 7_000n);
    await act.setTokenPrice(protocol, owner, "0.0091");
    expect(await issuesOf("redeem", redemption({ usdAmount: "91" }))).toMatchObject([
      { code: "throttled", blocking: false, ...nextWeek, actual: "0", needed: String(10_000n * 10n ** 18n) },
    ]);
    await act.setTokenPrice(protocol, owner, "0.1");
  });

  test("list: amount, price, maturity, balance and approval", async () => {
    const { matured, fresh, protocol } = setup();
    expect(await issuesOf("list", listing({ amount: "0", totalPriceUsdc: "999999" }))).toMatchObject([
      { code: "below_minimum", field: "amount" },
      { code: "below_minimum", field: "totalPriceUsdc", actual: "999999", needed: "1000000" },
    ]);
    const maturesAt = await act.maturityDate(protocol, matured);
    expect(await issuesOf("list", listing({ from: alice.address, epochId: String(matured) }))).toMatchObject([
      { code: "not_listable", maturesAt: String(maturesAt), listableUntil: String(maturesAt - 1n) },
    ]);
    const { marketplace } = setup().chain.deployment.contracts;
    expect(await issuesOf("list", listing({ from: poor }))).toMatchObject([
      { code: "bond_balance", epochId: String(fresh), actual: "0", needed: "10" },
      { code: "bond_approval", blocking: false, operator: marketplace },
    ]);
  });

  test("buy, cancel and withdraw: funds, an own listing, a closed one, another's, a matured one, and no credit", async () => {
    const { protocol, chain } = setup();
    const { marketplace, usdc: token } = chain.deployment.contracts;
    const total = "1116500000";
    expect(await issuesOf("buy", { from: poor, listingId: "6" })).toMatchObject([
      { code: "balance", blocking: true, token, actual: "0", needed: total },
      { code: "allowance", blocking: false, spender: marketplace, actual: "0", needed: total },
    ]);
    const seller = await newcomer(chain, protocol, 0n);
    await act.buyListing(protocol, bob, 3n);
    expect(await issuesOf("buy", { from: bob.address, listingId: "3" })).toMatchObject([
      { code: "listing_closed", listingId: "3" },
    ]);
    expect(await issuesOf("cancel", { from: alice.address, listingId: "3" })).toMatchObject([
      { code: "listing_closed" },
    ]);
    expect(await issuesOf("cancel", { from: seller.address, listingId: "4" })).toMatchObject([
      { code: "not_seller", seller: alice.address },
    ]);
    const maturesAt = String(await act.maturityDate(protocol, setup().matured));
    expect(await issuesOf("buy", { from: bob.address, listingId: "1" })).toMatchObject([
      { code: "not_listable", blocking: true, maturesAt },
    ]);
    expect(await issuesOf("cancel", { from: alice.address, listingId: "1" })).toEqual([]);
    expect(await issuesOf("withdraw", { from: poor })).toMatchObject([
      { code: "nothing_to_withdraw", blocking: true },
    ]);
    expect(await issuesOf("withdraw", { from: alice.address })).toEqual([]);
    // A seller who buys its own listing pays all of it, and is credited the price then.
    const spare = (await usdcOf(protocol, alice.address)) - BigInt(total);
    const transfer = { abi: erc20Abi, functionName: "transfer", args: [seller.address, spare] } as const;
    await act.send(protocol, alice, token, encodeFunctionData(transfer));
    expect(await issuesOf("buy", { from: alice.address, listingId: "4" })).toEqual([]);
  });

  test("purchase: coverage, product, capacity, funds", async () => {
    const { protocol, chain } = setup();
    const { coverRouter } = chain.deployment.contracts;
    expect(await issuesOf("purchase", purchase({ coverageAmount: "99999999" }))).toMatchObject([
      { code: "below_minimum", field: "coverageAmount", actual: "99999999", needed: "100000000" },
    ]);
    expect(await issuesOf("purchase", purchase({ from: poor }))).toMatchObject([
      { code: "balance", needed: "292000" },
      { code: "allowance", spender: coverRouter, needed: "292000" },
    ]);
    const codes = async (more: Record<string, string>) =>
      (await issuesOf("purchase", purchase(more))).map(({ code }) => code);
    expect(await codes({ coverageAmount: HUGE })).toEqual(["above_maximum", "exceeds_capacity", "balance"]);
    await act.deactivateProduct(protocol, owner, termsOf("FLASHETH48-001").productId);
    expect(await codes({ productName: "FLASHETH48-001" })).toEqual(["product_inactive"]);
  });

  test("an asset's price that is older than an hour stops purchases, a failing price oracle also redemptions", async () => {
    const { protocol } = setup();
    await act.mineAt(protocol, (await act.chainTime(protocol)) + 3_700n);
    const stale = (await issuesOf("purchase", purchase())).map(({ code }) => code);
    expect(stale).toEqual(["price_stale"]);
    expect(await issuesOf("redeem", redemption())).toEqual([]);
    await act.refreshFeeds(protocol, owner);
    await act.setPriceStale(protocol, owner, true);
    const feed = await act.priceOracleOf(protocol);
    for (const [action, body] of [
      ["purchase", purchase()],
      ["redeem", redemption()],
    ] as const) {
      const [issue] = await issuesOf(action, body);
      expect(issue).toMatchObject({ code: "price_stale", blocking: true, feed, updatedAt: "0" });
    }
    await act.setPriceStale(protocol, owner, false);
  });

  test("pauses, the sequencer, the token's price, and bonds that the marketplace may not move", async () => {
    const { protocol, chain } = setup();
    const { sequencerFeed, claimBond, marketplace } = chain.deployment.contracts;
    const { policyId } = await act.purchase(protocol, bob, btc1h, usdc(100));
    const codes = async (action: Action, body: Record<string, string>) =>
      (await issuesOf(action, body)).map(({ code }) => code);
    const actions: readonly (readonly [Action, Record<string, string>])[] = [
      ["redeem", redemption()],
      ["list", listing()],
      ["buy", { from: bob.address, listingId: "5" }],
      ["cancel", { from: alice.address, listingId: "5" }],
      ["trigger", trigger(policyId)],
      ["purchase", purchase()],
    ];
    const everything = async () => {
      const found: Partial<Record<Action, string[]>> = {};
      for (const [action, body] of actions) found[action] = await codes(action, body);
      return found;
    };
    const usual = {
      ...{ redeem: [], list: [], buy: [], cancel: [], purchase: [] },
      trigger: ["not_triggered"],
    };
    await act.setRouterPaused(protocol, owner, true);
    expect(await everything()).toEqual({ ...usual, purchase: ["paused"] });
    await act.setRouterPaused(protocol, owner, false);
    await act.setGlobalPause(protocol, owner, true);
    expect(await everything()).toEqual({ ...usual, purchase: ["paused"] });
    await act.setGlobalPause(protocol, owner, false);

    const status = (down: boolean, startedAt: bigint) =>
      act.send(
        protocol,
        owner,
        sequencerFeed,
        encodeFunctionData({ abi: mockSequencerFeedAbi, functionName: "setStatus", args: [down, startedAt] }),
      );
    const time = await act.chainTime(protocol);
    await status(true, time);
    expect(await everything()).toEqual({
      ...usual,
      purchase: ["sequencer_down"],
      trigger: ["sequencer_down", "not_triggered"],
    });
    await status(false, time - 86_400n);

    const allowTransfers = (allowed: boolean) =>
      act.send(
        protocol,
        owner,
        claimBond,
        encodeFunctionData({
          abi: claimBondAbi,
          functionName: "setAuthorizedOperator",
          args: [marketplace, allowed],
        }),
      );
    await allowTransfers(false);
    const blocked = ["transfer_not_allowed"];
    expect(await everything()).toEqual({ ...usual, list: blocked, buy: blocked, cancel: blocked });
    await allowTransfers(true);

    await act.setTokenPrice(protocol, owner, "0.0009");
    expect(await codes("redeem", redemption({ usdAmount: "1" }))).toEqual(["price_too_low"]);
  });

  test("redeem at exactly the lowest price: the vault's own answer decides whether that is too low", async () => {
    const { node, protocol, contractWallet } = setup();
    const codes = async () =>
      (await issuesOf("redeem", redemption({ from: contractWallet }))).map(({ code }) => code);
    await act.setTokenPrice(protocol, owner, "0.001");
    // It is queued, because the week's cap is so low now.
    expect(await codes()).toEqual(["throttled"]);
    // A vault that names the price at which it refuses, as V5.4 does.
    await act.setTokenPrice(protocol, owner, "0.0009");
    const named = toFunctionSelector("MIN_REDEEM_PRICE()");
    node.intercept((call, forward) =>
      call.method === "eth_call" && JSON.stringify(call.params[0]).includes(`"${named}"`)
        ? Promise.resolve({ result: numberToHex(9n * 10n ** 14n, { size: 32 }) })
        : forward(),
    );
    expect(await codes()).toEqual(["price_too_low", "throttled"]);
    node.intercept();
  });

  test("a prepared redemption holds until its week ends", async () => {
    const { protocol } = setup();
    const nextWeek = ((await act.chainTime(protocol)) / WEEK + 1n) * WEEK;
    await act.mineAt(protocol, nextWeek - 60n);
    const { validUntil } = await prepare(setup(), "redeem", redemption());
    expect(validUntil).toBe(String(nextWeek - 1n));
  });
}
