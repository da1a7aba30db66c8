/** How policies and products end, the release V5.0, and the waiting period. */
import { erc20Abi, parseEventLogs } from "viem";
import { describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import * as act from "../../scripts/local/protocol/actions/index.ts";
import { retireProducts } from "../../scripts/local/protocol/deploy.ts";
import { legacyTerms, withdrawnTerms } from "../../scripts/local/protocol/terms.ts";
import {
  alice,
  DAY,
  expectRevert,
  HOUR,
  owner,
  stranger,
  termsOf,
  travel,
  USDC,
  useProtocol,
} from "./support.ts";

const protocol = useProtocol({ retired: false });
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
const reserved = () =>
  protocol().client.readContract({
    abi: bondVaultAbi,
    address: protocol().deployment.contracts.bondVault,
    functionName: "totalReserved",
  });
const usdcOf = (address: `0x${string}`) =>
  protocol().client.readContract({
    abi: erc20Abi,
    address: protocol().deployment.contracts.usdc,
    functionName: "balanceOf",
    args: [address],
  });

describe("expiry", () => {
  test("anybody closes a policy one second after its window, which frees its capacity", async () => {
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
      amount: 800n * USDC,
      newTotalReserved: 0n,
    });
    expect((await policy(btc1h, policyId)).expired).toBe(true);
    expect(await reserved()).toBe(0n);
  });

  test("a policy that ended otherwise cannot expire, nor one that does not exist", async () => {
    const { policyId } = await buy(btc1h);
    await act.trigger(protocol(), stranger, btc1h, policyId);
    await travel(protocol(), DAY);
    await expectRevert(act.markExpired(protocol(), stranger, btc1h, policyId), "ALREADY_FINALIZED");
    await expectRevert(act.markExpired(protocol(), stranger, btc1h, 9n), "POLICY_NOT_FOUND");
  });
});

describe("cancelling", () => {
  test("the owner refunds the premium out of its own USDC, and the capacity is free again", async () => {
    const { policyId, premium } = await buy(btc1h);
    const [buyer, treasury] = [await usdcOf(alice.address), await usdcOf(owner.address)];
    const receipt = await act.cancelPolicy(protocol(), owner, btc1h, policyId);
    expect(act.onlyEvent(receipt, policyManagerAbi, "PolicyCancelled").args.policyId).toBe(policyId);
    expect((await usdcOf(alice.address)) - buyer).toBe(premium);
    expect(treasury - (await usdcOf(owner.address))).toBe(premium);
    expect(await reserved()).toBe(0n);
    expect((await details(btc1h, policyId)).cancelled).toBe(true);
  });

  test("nobody else cancels, nothing twice, and nothing whose window has passed", async () => {
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
  test("its product sells policies without a price snapshot, which still pay", async () => {
    const { policyId, receipt } = await buy(legacyTerms);
    expect(parseEventLogs({ abi: coverRouterAbi, logs: receipt.logs }).map((e) => e.eventName)).toEqual([
      "PolicyPurchased",
    ]);
    expect((await details(legacyTerms, policyId)).priceSnapshot).toBe(0n);
    await retireProducts(protocol().deployment, protocol().rpcUrl, owner);
    await expectRevert(buy(legacyTerms), `ShieldPaused(${legacyTerms.productId})`);
    expect((await act.trigger(protocol(), stranger, legacyTerms, policyId)).usdAmount).toBe(800n);
  });
});

describe("the waiting period", () => {
  test("is part of the window, and a fall within it does not count", async () => {
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
  test("a deactivated product keeps its policies and can be put on sale again", async () => {
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

  test("terms need a registered shield, and a product stands in the list once", async () => {
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
