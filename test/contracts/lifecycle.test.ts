/** The ends of policies and products, release V5.0, and the waiting period. */
import { parseEventLogs } from "viem";
import { describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { retireProduct } from "../../scripts/local/protocol/deploy.ts";
import { legacyTerms, termsOf, withdrawnTerms } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { readsOf } from "./reads.ts";
import {
  alice,
  DAY,
  expectRevert,
  HOUR,
  owner,
  stranger,
  TOKEN,
  travel,
  USDC,
  useProtocol,
} from "./support.ts";

const protocol = useProtocol({ retired: false });
const { usdcOf, vault } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");

const buy = (product: act.ProductRef) => act.purchase(protocol(), alice, product, 1_000n * USDC);
const details = (product: act.ProductRef, policyId: bigint) =>
  protocol().client.readContract({
    abi: policyManagerAbi,
    address: protocol().deployment.contracts.policyManager,
    functionName: "policyDetails",
    args: [product.productId, policyId],
  });
const policy = (product: act.ProductRef, policyId: bigint) =>
  protocol().client.readContract({
    abi: policyManagerAbi,
    address: protocol().deployment.contracts.policyManager,
    functionName: "getPolicy",
    args: [product.productId, policyId],
  });

describe("expiry", () => {
  test("any account may close a policy one second after its window, which releases its capacity", async () => {
    const { policyId } = await buy(btc1h);
    const { expiresAt } = await policy(btc1h, policyId);
    await act.nextBlockAt(protocol(), expiresAt);
    await expectRevert(
      act.markExpired(protocol(), stranger, btc1h, policyId),
      `PolicyNotExpired(${btc1h.productId}, ${policyId}, ${expiresAt})`,
    );
    await act.nextBlockAt(protocol(), expiresAt + 1n);
    const receipt = await act.markExpired(protocol(), stranger, btc1h, policyId);
    expect(act.onlyEvent(receipt, policyManagerAbi, "PolicyExpired").args.policyId).toBe(policyId);
    expect(act.onlyEvent(receipt, bondVaultAbi, "ReservationReleased").args).toEqual({
      amount: 800n * TOKEN,
      newTotalReserved: 0n,
    });
    expect((await policy(btc1h, policyId)).expired).toBe(true);
    expect(await vault("totalReservedUSD")).toBe(0n);
  });

  test("a policy that was paid or cancelled, or does not exist, cannot expire", async () => {
    const { policyId } = await buy(btc1h);
    await act.trigger(protocol(), stranger, btc1h, policyId);
    await travel(protocol(), DAY);
    await expectRevert(act.markExpired(protocol(), stranger, btc1h, policyId), "ALREADY_FINALIZED");
    await expectRevert(act.markExpired(protocol(), stranger, btc1h, 9n), "POLICY_NOT_FOUND");
  });
});

describe("cancellation", () => {
  test("refunds the premium from the owner's USDC and releases the capacity", async () => {
    const { policyId, premium } = await buy(btc1h);
    const [buyer, treasury] = [await usdcOf(alice.address), await usdcOf(owner.address)];
    const receipt = await act.cancelPolicy(protocol(), owner, btc1h, policyId);
    expect(act.onlyEvent(receipt, policyManagerAbi, "PolicyCancelled").args.policyId).toBe(policyId);
    expect((await usdcOf(alice.address)) - buyer).toBe(premium);
    expect(treasury - (await usdcOf(owner.address))).toBe(premium);
    expect(await vault("totalReservedUSD")).toBe(0n);
    expect((await details(btc1h, policyId)).cancelled).toBe(true);
  });

  test("is reverted for other accounts, a second time, and after the window", async () => {
    const { policyId } = await buy(btc1h);
    await expectRevert(
      act.cancelPolicy(protocol(), alice, btc1h, policyId),
      `OwnableUnauthorizedAccount(${alice.address})`,
    );
    await act.cancelPolicy(protocol(), owner, btc1h, policyId);
    await expectRevert(act.cancelPolicy(protocol(), owner, btc1h, policyId), "ALREADY_FINALIZED");
    const late = await buy(btc1h);
    await travel(protocol(), HOUR + 1n);
    await expectRevert(act.cancelPolicy(protocol(), owner, btc1h, late.policyId), "WINDOW_EXPIRED");
  });
});

describe("release V5.0", () => {
  test("sold policies without a price snapshot, and they still pay", async () => {
    const { policyId, receipt } = await buy(legacyTerms);
    expect(parseEventLogs({ abi: coverRouterAbi, logs: receipt.logs }).map((e) => e.eventName)).toEqual([
      "PolicyPurchased",
    ]);
    expect((await details(legacyTerms, policyId)).priceSnapshot).toBe(0n);
    await retireProduct(protocol().deployment, protocol().rpcUrl, owner);
    await expectRevert(buy(legacyTerms), `ShieldPaused(${legacyTerms.productId})`);
    expect((await act.trigger(protocol(), stranger, legacyTerms, policyId)).usdAmount).toBe(800n);
  });
});

describe("the waiting period", () => {
  test("is part of the window, and a price drop in it does not trigger", async () => {
    const { policyId, receipt } = await buy(withdrawnTerms);
    const { timestamp } = await protocol().client.getBlock({ blockNumber: receipt.blockNumber });
    expect((await details(withdrawnTerms, policyId)).waitingEndsAt).toBe(timestamp + 6n * HOUR);
    expect((await policy(withdrawnTerms, policyId)).expiresAt).toBe(timestamp + 72n * HOUR);
    const early = act.trigger(protocol(), stranger, withdrawnTerms, policyId);
    await expectRevert(early, "TRIGGER_NOT_MET");
    const { price } = await act.latestRound(protocol(), "ETH");
    await act.timeTravel(protocol(), timestamp + 6n * HOUR - (await act.chainTime(protocol())));
    await act.pushPrice(protocol(), owner, "ETH", price);
    expect((await act.trigger(protocol(), stranger, withdrawnTerms, policyId)).usdAmount).toBe(800n);
  });
});

describe("products", () => {
  test("a deactivated product keeps its policies and can be activated again", async () => {
    const { policyId } = await buy(btc1h);
    const { shield } = await act.productConfigOf(protocol(), btc1h.productId);
    await act.deactivateProduct(protocol(), owner, btc1h.productId);
    expect((await act.productConfigOf(protocol(), btc1h.productId)).active).toBe(false);
    expect((await act.trigger(protocol(), stranger, btc1h, policyId)).usdAmount).toBe(800n);
    await act.registerProduct(protocol(), owner, btc1h.productId, shield);
    expect((await buy(btc1h)).policyId).toBe(2n);
  });

  test("a removed product is inactive, and its policies still pay", async () => {
    const { policyId } = await buy(btc1h);
    await act.removeProduct(protocol(), owner, btc1h.productId);
    await expectRevert(buy(btc1h), `ProductInactive(${btc1h.productId})`);
    expect((await act.trigger(protocol(), stranger, btc1h, policyId)).usdAmount).toBe(800n);
  });

  test("terms need a registered shield, and the list has a product once", async () => {
    const config = await act.productConfigOf(protocol(), btc1h.productId);
    const { productId } = legacyTerms;
    await expectRevert(
      act.configureProduct(protocol(), owner, legacyTerms.name, config),
      `ProductNotConfigured(${productId})`,
    );
    await act.configureProduct(protocol(), owner, btc1h.name, { ...config, premiumPpm: 3_000 });
    expect((await buy(btc1h)).premium).toBe(3n * USDC);
    const count = await protocol().client.readContract({
      abi: coverRouterAbi,
      address: protocol().deployment.contracts.coverRouter,
      functionName: "getProductCount",
    });
    expect(count).toBe(8n);
  });
});
