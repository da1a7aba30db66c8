/** Purchases: the price of each product, transfers, events and records. */
import { describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { readsOf } from "./reads.ts";
import { alice, bob, HOUR, relayer, TOKEN, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const { quote, usdcOf, vault } = readsOf(protocol);
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

  test("a premium is rounded up to the next unit of USDC, a payout down", async () => {
    expect(await quote(btc1h.productId, 100_000_001n)).toEqual([292_001n, 80_000_000n]);
  });

  test("the highest uint256 coverage is priced without an overflow", async () => {
    const [premium, payout] = await quote(btc1h.productId, 2n ** 256n - 1n);
    expect(payout).toBe(((2n ** 256n - 1n) * 8_000n) / 10_000n);
    expect(premium).toBe(((2n ** 256n - 1n) * 2_920n) / 1_000_000n + 1n);
  });

  test("the probability field is half the premium rate divided by the payout ratio", async () => {
    const probabilities = await Promise.all(
      table.map(async ([name]) => {
        const config = await protocol().client.readContract({
          abi: coverRouterAbi,
          address: protocol().deployment.contracts.coverRouter,
          functionName: "getProductConfig",
          args: [termsOf(name).productId],
        });
        expect([config.payoutRatioBps, config.marginBps]).toEqual([8_000, 20_000]);
        return config.triggerProbBps;
      }),
    );
    expect(probabilities).toEqual([18, 329, 929, 11, 286, 769]);
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
    const { contracts } = protocol().deployment;
    const read = {
      abi: policyManagerAbi,
      address: contracts.policyManager,
      args: [btc1h.productId, policyId],
    } as const;
    const config = await protocol().client.readContract({
      abi: coverRouterAbi,
      address: contracts.coverRouter,
      functionName: "getProductConfig",
      args: [btc1h.productId],
    });
    expect(await protocol().client.readContract({ ...read, functionName: "getPolicy" })).toEqual({
      productId: btc1h.productId,
      shield: config.shield,
      buyer: alice.address,
      coverage: 500n * USDC,
      payout: 400n * USDC,
      premium: 1_460_000n,
      createdAt: timestamp,
      expiresAt: timestamp + HOUR,
      triggered: false,
      expired: false,
    });
    expect(await protocol().client.readContract({ ...read, functionName: "policyDetails" })).toEqual({
      waitingEndsAt: 0n,
      priceSnapshot: 10n ** 17n,
      triggeredAt: 0n,
      bondEpochId: 0n,
      cancelled: false,
    });
    expect(act.onlyEvent(receipt, coverRouterAbi, "PolicyPurchased").args).toEqual({
      productId: btc1h.productId,
      policyId,
      buyer: alice.address,
      coverage: 500n * USDC,
      premium: 1_460_000n,
      payout: 400n * USDC,
      paidBy: alice.address,
    });
    expect(act.onlyEvent(receipt, coverRouterAbi, "PolicyPriceSnapshot").args.priceSnapshot).toBe(10n ** 17n);
    expect(act.onlyEvent(receipt, policyManagerAbi, "PolicyCreated").args).toMatchObject({ policyId });
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
