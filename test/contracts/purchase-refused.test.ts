/** Every revert of a purchase, and their order. */
import { parseEventLogs, toHex, zeroAddress } from "viem";
import { describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { retiredTerms, termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { readsOf } from "./reads.ts";
import { alice, expectRevert, HOUR, owner, relayer, stranger, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const { usdcOf, vault } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");
const AUTO_PAUSED = "Protocol auto-paused: LUMINA price below safety threshold";

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

  test("NotAuthorizedRelayer for the owner, and a relayer that is not, or no longer, on the allowlist", async () => {
    const buyFor = (account = relayer) =>
      act.purchaseFor(protocol(), account, btc1h, 100n * USDC, alice.address);
    for (const account of [owner, stranger])
      await expectRevert(buyFor(account), `NotAuthorizedRelayer(${account.address})`);
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
  });

  test("ProductInactive for a product that the router does not sell", async () => {
    await act.setProductActive(protocol(), owner, btc1h.productId, false);
    await expectRevert(buy(), `ProductInactive(${btc1h.productId})`);
  });

  test("ProductNotActive for a product that the manager does not sell, as the retired one", async () => {
    await expectRevert(buy(retiredTerms), `ProductNotActive(${retiredTerms.productId})`);
    await act.deactivateProduct(protocol(), owner, btc1h.productId);
    await expectRevert(buy(), `ProductNotActive(${btc1h.productId})`);
  });

  test("ProductNotFound for a product that the manager does not know", async () => {
    const config = await act.productConfigOf(protocol(), btc1h.productId);
    const productId = toHex("not registered", { size: 32 });
    await act.configureProduct(protocol(), owner, { ...config, productId });
    await expectRevert(buy({ ...btc1h, productId }), `ProductNotFound(${productId})`);
  });

  test("Protocol auto-paused while the token's price is below the minimum", async () => {
    await act.setTokenPrice(protocol(), owner, "0.0049");
    await expectRevert(buy(), AUTO_PAUSED);
  });

  test("Zero buyer for a relayed purchase for nobody", async () => {
    await expectRevert(act.purchaseFor(protocol(), relayer, btc1h, 100n * USDC, zeroAddress), "Zero buyer");
  });

  test("InvalidCoverage below 100 USD and above the maximum", async () => {
    const most = await protocol().client.readContract({
      abi: coverRouterAbi,
      address: protocol().deployment.contracts.coverRouter,
      functionName: "MAX_COVERAGE_PER_POLICY",
    });
    await expectRevert(buy(btc1h, most + 1n), `InvalidCoverage(${most + 1n})`);
    expect((await buy(btc1h, most)).policyId).toBe(1n);
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

  test("ORACLE_INCOMPLETE_ROUND when the asset's newest round was answered in an earlier one", async () => {
    await act.setIncompleteRound(protocol(), "BTC");
    await expectRevert(buy(), "ORACLE_INCOMPLETE_ROUND");
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
    // At 0.01 USD half of 700,000 USD covers a payout of 80 % of 437,500 USD.
    await act.setTokenPrice(protocol(), owner, "0.01");
    const full = 437_500n * USDC;
    await expectRevert(buy(btc1h, full + 1_250_000n), "InsufficientCapacity(350001, 350000)");
    expect((await buy(btc1h, full + 1_249_998n)).payout).toBe(350_000_999_998n);
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

  test("SafeERC20FailedOperation when USDC answers false", async () => {
    const { usdc } = protocol().deployment.contracts;
    await act.setCode(protocol(), usdc, "0x5f5f5260205ff3");
    await expectRevert(buy(), `SafeERC20FailedOperation(${usdc})`);
  });

  test("the first of several reasons: each fault comes before all those above it", async () => {
    const { coverRouter } = protocol().deployment.contracts;
    const config = await act.productConfigOf(protocol(), btc1h.productId);
    const configure = (change: Partial<act.ProductConfig>) =>
      act.configureProduct(protocol(), owner, { ...config, ...change });
    const wrong = { asset: termsOf("FLASHETH1H-001").asset, productId: toHex("unknown", { size: 32 }) };
    const order = {
      account: relayer,
      product: { ...btc1h },
      coverage: 500_000n * USDC,
      buyer: alice.address,
    };
    const faults: [() => unknown, string][] = [
      [() => act.pushPrice(protocol(), owner, "BTC", 0n), "ORACLE_INVALID"],
      [() => configure({ durationSeconds: 1 }), "WINDOW_MISMATCH"],
      [() => configure({ durationSeconds: 0 }), "INVALID_WINDOW"],
      [() => Object.assign(order.product, { asset: wrong.asset }), `InvalidAsset(${wrong.asset})`],
      [() => act.setTokenPrice(protocol(), owner, "0.01"), "InsufficientCapacity(400000, 350000)"],
      [
        () => act.deactivateProduct(protocol(), owner, btc1h.productId),
        `ProductNotActive(${btc1h.productId})`,
      ],
      [
        () => act.approveUsdc(protocol(), alice, coverRouter, 0n),
        `ERC20InsufficientAllowance(${coverRouter}, 0, 1460000000)`,
      ],
      [() => Object.assign(order, { coverage: 1n }), "InvalidCoverage(1)"],
      [() => configure({ active: false }), `ProductInactive(${btc1h.productId})`],
      [
        () => Object.assign(order.product, { productId: wrong.productId }),
        `ProductNotConfigured(${wrong.productId})`,
      ],
      [() => act.setTokenPrice(protocol(), owner, "0.001"), AUTO_PAUSED],
      [() => act.setPriceStale(protocol(), owner, true), "OracleStale(3601, 3600)"],
      [() => Object.assign(order, { buyer: zeroAddress }), "Zero buyer"],
      [() => Object.assign(order, { account: stranger }), `NotAuthorizedRelayer(${stranger.address})`],
      [() => act.setSequencer(protocol(), owner, { down: true, startedAt: 1n }), "SEQUENCER_DOWN"],
      [() => act.setRouterPaused(protocol(), owner, true), "ContractPaused"],
    ];
    for (const [fault, reason] of faults) {
      await fault();
      const { account, product, coverage, buyer } = order;
      await expectRevert(act.purchaseFor(protocol(), account, product, coverage, buyer), reason);
    }
  });

  test("no USDC moved and no payout reserved", async () => {
    await act.pushPrice(protocol(), owner, "BTC", 0n);
    const before = await usdcOf(alice.address);
    const refused = await buy().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(act.RevertedError);
    if (refused instanceof act.RevertedError)
      expect(parseEventLogs({ abi: coverRouterAbi, logs: refused.receipt.logs })).toEqual([]);
    expect(await usdcOf(alice.address)).toBe(before);
    expect(await vault("totalReservedUSD")).toBe(0n);
  });
});
