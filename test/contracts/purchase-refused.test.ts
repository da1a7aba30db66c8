/** Every revert of a purchase, and their order. */
import { parseEventLogs, toHex } from "viem";
import { describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { legacyTerms, termsOf, withdrawnTerms } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { readsOf } from "./reads.ts";
import { alice, expectRevert, HOUR, owner, relayer, stranger, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const { quote, usdcOf } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");

describe("a purchase reverts with", () => {
  const buy = (product: act.ProductRef = btc1h, coverage = 100n * USDC) =>
    act.purchase(protocol(), alice, product, coverage);

  test("ContractPaused while the router is paused, for a relayer and for a buyer", async () => {
    await act.setRouterPaused(protocol(), owner, true);
    await expectRevert(buy(), "ContractPaused");
    await expectRevert(
      act.purchaseFor(protocol(), stranger, btc1h, 100n * USDC, alice.address),
      "ContractPaused",
    );
    await act.setRouterPaused(protocol(), owner, false);
    expect((await buy()).policyId).toBe(1n);
  });

  test("ContractPaused during the global pause", async () => {
    await act.setGlobalPause(protocol(), owner, true);
    await expectRevert(buy(), "ContractPaused");
  });

  test("NotAuthorizedRelayer for a relayer that is not, or no longer, on the allowlist", async () => {
    const buyFor = (account = relayer) =>
      act.purchaseFor(protocol(), account, btc1h, 100n * USDC, alice.address);
    await expectRevert(buyFor(stranger), `NotAuthorizedRelayer(${stranger.address})`);
    await act.setRelayer(protocol(), owner, relayer.address, false);
    await expectRevert(buyFor(), `NotAuthorizedRelayer(${relayer.address})`);
  });

  test("SEQUENCER_DOWN while the sequencer is down, and for an hour afterwards", async () => {
    const now = await act.chainTime(protocol());
    await act.setSequencer(protocol(), owner, { down: true, startedAt: now - 5n * HOUR });
    await expectRevert(buy(), "SEQUENCER_DOWN");
    const upAt = await act.chainTime(protocol());
    await act.setSequencer(protocol(), owner, { down: false, startedAt: upAt });
    await act.nextBlockAt(protocol(), upAt + HOUR);
    await expectRevert(buy(), "SEQUENCER_DOWN");
    await act.refreshFeeds(protocol(), owner);
    await act.nextBlockAt(protocol(), upAt + HOUR + 1n);
    expect((await buy()).policyId).toBe(1n);
  });

  test("ProductNotConfigured for a product that does not exist", async () => {
    const productId = toHex("no such product", { size: 32 });
    await expectRevert(buy({ ...btc1h, productId }), `ProductNotConfigured(${productId})`);
    await expect(quote(productId, 100n * USDC)).rejects.toThrow("ProductNotConfigured");
  });

  test("ShieldPaused for the paused function of an earlier release", async () => {
    await expectRevert(buy(legacyTerms), `ShieldPaused(${legacyTerms.productId})`);
  });

  test("ProductInactive for a product that is no longer sold", async () => {
    await expectRevert(buy(withdrawnTerms), `ProductInactive(${withdrawnTerms.productId})`);
    await act.deactivateProduct(protocol(), owner, btc1h.productId);
    await expectRevert(buy(), `ProductInactive(${btc1h.productId})`);
  });

  test("InvalidCoverage below 100 USD", async () => {
    await expectRevert(buy(btc1h, 99_999_999n), "InvalidCoverage(99999999)");
    await expectRevert(buy(btc1h, 0n), "InvalidCoverage(0)");
  });

  test("InvalidAsset for an asset that differs from the shield's", async () => {
    const { asset } = termsOf("FLASHETH1H-001");
    await expectRevert(buy({ ...btc1h, asset }), `InvalidAsset(${asset})`);
  });

  test("ORACLE_INVALID when the asset's price is not above zero", async () => {
    const { price } = await act.latestRound(protocol(), "BTC");
    for (const bad of [0n, -1n]) {
      await act.pushPrice(protocol(), owner, "BTC", bad);
      await expectRevert(buy(), "ORACLE_INVALID");
    }
    await act.pushPrice(protocol(), owner, "BTC", price);
    expect((await buy()).policyId).toBe(1n);
  });

  test("ORACLE_STALE when the asset's price is more than an hour old, and not a second earlier", async () => {
    await act.refreshFeeds(protocol(), owner);
    const { price } = await act.latestRound(protocol(), "BTC");
    const now = await act.chainTime(protocol());
    await act.pushPrice(protocol(), owner, "BTC", price, now - 100n);
    await act.nextBlockAt(protocol(), now + HOUR - 100n);
    await buy();
    await act.nextBlockAt(protocol(), now + HOUR - 99n);
    await expectRevert(buy(), "ORACLE_STALE");
  });

  test("the price oracle's error while it has no price of the token", async () => {
    await act.setPriceStale(protocol(), owner, true);
    await expectRevert(buy(), "OracleStale(3601, 3600)");
    await act.setPriceStale(protocol(), owner, false);
    expect((await buy()).policyId).toBe(1n);
  });

  test("InsufficientCapacity when the payout's whole dollars are above the vault's free capacity", async () => {
    // Half of 7,000,000 USD covers a payout of 80 % of 4,375,000 USD.
    const full = 4_375_000n * USDC;
    await expectRevert(buy(btc1h, full + 1_250_000n), "InsufficientCapacity(3500001, 3500000)");
    expect((await buy(btc1h, full + 1_249_998n)).payout).toBe(3_500_000_999_998n);
    await expectRevert(buy(), "InsufficientCapacity(80, 0)");
  });

  test("ERC20InsufficientBalance when the buyer holds less USDC than the premium", async () => {
    await act.approveUsdc(protocol(), stranger, protocol().deployment.contracts.coverRouter);
    await act.mintUsdc(protocol(), owner, stranger.address, 291_999n);
    await expectRevert(
      act.purchaseFor(protocol(), relayer, btc1h, 100n * USDC, stranger.address),
      `ERC20InsufficientBalance(${stranger.address}, 291999, 292000)`,
    );
  });

  test("ERC20InsufficientAllowance when the router's allowance is below the premium", async () => {
    const { coverRouter } = protocol().deployment.contracts;
    await act.approveUsdc(protocol(), alice, coverRouter, 291_999n);
    await expectRevert(buy(), `ERC20InsufficientAllowance(${coverRouter}, 291999, 292000)`);
  });

  test("the first of several reasons", async () => {
    const { contracts } = protocol().deployment;
    const unknown = toHex("no such product", { size: 32 });
    await act.approveUsdc(protocol(), alice, contracts.coverRouter, 0n);
    await act.pushPrice(protocol(), owner, "BTC", 0n);
    await expectRevert(
      buy(btc1h, 6_250_001n * USDC),
      `ERC20InsufficientAllowance(${contracts.coverRouter}, 0, 18250002920)`,
    );
    await act.approveUsdc(protocol(), alice, contracts.coverRouter);
    await expectRevert(buy(btc1h, 6_250_001n * USDC), "ORACLE_INVALID");
    await expectRevert(buy({ ...btc1h, asset: unknown }, 1n), "InvalidCoverage(1)");
    await act.deactivateProduct(protocol(), owner, btc1h.productId);
    await expectRevert(buy(btc1h, 1n), `ProductInactive(${btc1h.productId})`);
    await act.setProductPaused(protocol(), owner, btc1h.productId, true);
    await expectRevert(buy(btc1h, 1n), `ShieldPaused(${btc1h.productId})`);
    await act.setSequencer(protocol(), owner, { down: true, startedAt: 1n });
    await expectRevert(buy({ ...btc1h, productId: unknown }), "SEQUENCER_DOWN");
    await expectRevert(
      act.purchaseFor(protocol(), stranger, btc1h, 1n, alice.address),
      `NotAuthorizedRelayer(${stranger.address})`,
    );
    await act.setRouterPaused(protocol(), owner, true);
    await expectRevert(act.purchaseFor(protocol(), stranger, btc1h, 1n, alice.address), "ContractPaused");
  });

  test("no USDC moved and no payout reserved", async () => {
    await act.pushPrice(protocol(), owner, "BTC", 0n);
    const before = await usdcOf(alice.address);
    const refused = await buy().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(act.RevertedError);
    if (refused instanceof act.RevertedError)
      expect(parseEventLogs({ abi: coverRouterAbi, logs: refused.receipt.logs })).toEqual([]);
    expect(await usdcOf(alice.address)).toBe(before);
  });
});
