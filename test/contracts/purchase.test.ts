/** Purchases: the price of each product, transfers, events and records. */
import { toHex } from "viem";
import { describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { readsOf } from "./reads.ts";
import { alice, bob, HOUR, owner, relayer, TOKEN, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const { policy, quote, reservedFor, usdcOf, vault } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");

/** The premium per 1000 USD of coverage, from the table in the API specification. */
const table = [
  ["FLASHBTC1H-001", "2.92"],
  ["FLASHBTC24-001", "52.60"],
  ["FLASHBTC48-001", "148.67"],
  ["FLASHETH1H-001", "1.68"],
  ["FLASHETH24-001", "45.80"],
  ["FLASHETH48-001", "123.01"],
] as const;

const inCents = (dollars: string) => BigInt(dollars.replace(".", "")) * 10_000n;

describe("premiums", () => {
  test.each(table)("%s costs %s USD per 1000 USD, quoted and charged", async (name, dollars) => {
    const terms = termsOf(name);
    const expected = [inCents(dollars), 800n * USDC];
    expect(await quote(terms.productId, 1_000n * USDC)).toEqual(expected);
    const before = await usdcOf(alice.address);
    const bought = await act.purchase(protocol(), alice, terms, 1_000n * USDC);
    expect([bought.premium, bought.payout]).toEqual(expected);
    expect(before - (await usdcOf(alice.address))).toBe(inCents(dollars));
    expect(await usdcOf(protocol().deployment.contracts.twapBurner)).toBe(inCents(dollars));
  });

  test("premium and payout are rounded down to a unit of USDC, and a premium is one at least", async () => {
    expect(await quote(btc1h.productId, 100_000_399n)).toEqual([292_001n, 80_000_319n]);
    expect(await quote(btc1h.productId, 1n)).toEqual([1n, 0n]);
  });

  test("without an exact premium it is coverage × ratio × probability × margin, as deployed", async () => {
    for (const [name] of table) await act.changePremium(protocol(), owner, name, -termsOf(name).premiumPpm);
    const premiums = await Promise.all(
      table.map(async ([name]) => (await quote(termsOf(name).productId, 1_000n * USDC))[0]),
    );
    expect(premiums).toEqual([2_880_000n, 52_640_000n, 148_640_000n, 1_600_000n, 45_760_000n, 123_040_000n]);
    expect(await quote(btc1h.productId, 1n)).toEqual([1n, 0n]);
  });

  test("a product that was never configured has no quote", async () => {
    await expect(quote(toHex("none", { size: 32 }), USDC)).rejects.toThrow("Product not configured");
  });

  test("the terms have the deployed ratio, margin and probabilities", async () => {
    const probabilities = await Promise.all(
      table.map(async ([name]) => {
        const config = await protocol().client.readContract({
          abi: coverRouterAbi,
          address: protocol().deployment.contracts.coverRouter,
          functionName: "getProductConfig",
          args: [termsOf(name).productId],
        });
        expect([config.payoutRatioBps, config.marginBps]).toEqual([8_000n, 20_000n]);
        return config.triggerProbBps;
      }),
    );
    expect(probabilities).toEqual([18n, 329n, 929n, 10n, 286n, 769n]);
  });
});

describe("a purchase", () => {
  test("gets the next policy id of its product, from 1", async () => {
    const eth1h = termsOf("FLASHETH1H-001");
    const ids = [
      (await act.purchase(protocol(), alice, btc1h, 100n * USDC)).policyId,
      (await act.purchase(protocol(), bob, btc1h, 100n * USDC)).policyId,
      (await act.purchase(protocol(), alice, eth1h, 100n * USDC)).policyId,
    ];
    expect(ids).toEqual([1n, 2n, 1n]);
  });

  test("by a relayer is paid by the buyer, and its events and records show that", async () => {
    const { policyId, receipt } = await act.purchaseFor(
      protocol(),
      relayer,
      btc1h,
      500n * USDC,
      alice.address,
    );
    const { timestamp } = await protocol().client.getBlock({ blockNumber: receipt.blockNumber });
    const { adapter } = await act.coverOf(protocol(), btc1h, policyId);
    expect(await policy(btc1h.productId, policyId)).toEqual({
      productId: btc1h.productId,
      shield: adapter,
      buyer: alice.address,
      coverageAmount: 500n * USDC,
      payoutAmount: 400n * USDC,
      premiumPaid: 1_460_000n,
      createdAt: timestamp,
      expiresAt: timestamp + HOUR,
      triggered: false,
      expired: false,
    });
    expect(await reservedFor(btc1h.productId, policyId)).toBe(400n * TOKEN);
    expect(act.onlyEvent(receipt, coverRouterAbi, "PolicyPurchased").args).toEqual({
      productId: btc1h.productId,
      policyId,
      buyer: alice.address,
      coverage: 500n * USDC,
      premium: 1_460_000n,
      payout: 400n * USDC,
      paidBy: relayer.address,
    });
    expect(act.onlyEvent(receipt, policyManagerAbi, "PolicyCreated").args).toMatchObject({ policyId });
    expect(act.onlyEvent(receipt, flashShieldAbi, "PolicyCreated").args).toEqual({
      policyId,
      holder: alice.address,
      coverage: 500n * USDC,
      strikePrice: 60_000_00000000n,
      startTimestamp: timestamp,
      expiresAt: timestamp + HOUR,
    });
    expect(act.onlyEvent(receipt, bondVaultAbi, "CapacityReserved").args).toEqual({
      amount: 400n * TOKEN,
      newTotalReserved: 400n * TOKEN,
    });
    expect(act.onlyEvent(receipt, twapBurnerAbi, "PremiumReceived").args).toEqual({
      from: protocol().deployment.contracts.coverRouter,
      amount: 1_460_000n,
    });
  });

  test("lowers the vault's free capacity by the payout, not by the coverage", async () => {
    const before = await vault("availableCapacityUSD");
    await act.purchase(protocol(), alice, btc1h, 1_000n * USDC);
    expect(before - (await vault("availableCapacityUSD"))).toBe(800n);
  });
});
