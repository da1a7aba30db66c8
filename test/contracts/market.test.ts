/** The marketplace: escrow, sales of whole listings, both fees, and every revert. */
import { beforeEach, describe, expect, test } from "vitest";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { buybackEngineAbi } from "../../abis/BuybackEngine.ts";
import * as act from "../../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { readsOf } from "./reads.ts";
import { alice, bob, DAY, expectRevert, owner, stranger, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const { bondsOf, usdcOf } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");
let epochId = 0n;

/** Alice holds 800 USD of bonds and has approved the marketplace. */
beforeEach(async () => {
  const { policyId } = await act.purchase(protocol(), alice, btc1h, 1_000n * USDC);
  ({ epochId } = await act.trigger(protocol(), stranger, btc1h, policyId));
  await act.approveMarketplace(protocol(), alice);
});

const list = (amount = 500n, price = 550n * USDC) => act.listBond(protocol(), alice, epochId, amount, price);
const listing = (id: bigint) =>
  protocol().client.readContract({
    abi: bondMarketplaceAbi,
    address: protocol().deployment.contracts.marketplace,
    functionName: "getListing",
    args: [id],
  });

describe("a listing", () => {
  test("takes the bonds into escrow", async () => {
    const id = await list();
    expect(await listing(id)).toEqual([alice.address, epochId, 500n, 550n * USDC, true]);
    expect(await bondsOf(alice.address, epochId)).toBe(300n);
    expect(await bondsOf(protocol().deployment.contracts.marketplace, epochId)).toBe(500n);
  });

  test("is sold as a whole, with 1.5 % from the seller and 1.5 % from the buyer to the buyback engine", async () => {
    const id = await list();
    const { buybackEngine, marketplace } = protocol().deployment.contracts;
    const fees = { abi: bondMarketplaceAbi, address: marketplace, functionName: "calculateFees" } as const;
    expect(await protocol().client.readContract({ ...fees, args: [550n * USDC] })).toEqual([
      ...[8_250_000n, 8_250_000n, 16_500_000n],
    ]);
    const [seller, buyer] = [await usdcOf(alice.address), await usdcOf(bob.address)];
    const receipt = await act.buyListing(protocol(), bob, id);
    expect((await usdcOf(alice.address)) - seller).toBe(541_750_000n);
    expect(buyer - (await usdcOf(bob.address))).toBe(558_250_000n);
    expect(await usdcOf(buybackEngine)).toBe(16_500_000n);
    expect(await bondsOf(bob.address, epochId)).toBe(500n);
    expect((await listing(id))[4]).toBe(false);
    expect(act.onlyEvent(receipt, bondMarketplaceAbi, "Bought").args).toEqual({
      listingId: id,
      buyer: bob.address,
      seller: alice.address,
      priceUSDC: 550n * USDC,
      sellerFee: 8_250_000n,
      buyerFee: 8_250_000n,
    });
    expect(act.onlyEvent(receipt, buybackEngineAbi, "MarketplaceFeeReceived").args).toEqual({
      from: bob.address,
      usdcAmount: 16_500_000n,
    });
  });

  test("returns its bonds to the seller when cancelled", async () => {
    const id = await list();
    const receipt = await act.cancelListing(protocol(), alice, id);
    expect(act.onlyEvent(receipt, bondMarketplaceAbi, "Cancelled").args).toEqual({
      listingId: id,
      seller: alice.address,
    });
    expect(await bondsOf(alice.address, epochId)).toBe(800n);
  });

  test("can be returned by the owner in an emergency, even during the global pause", async () => {
    const [first, second] = [await list(100n, 100n * USDC), await list(200n, 200n * USDC)];
    await act.setGlobalPause(protocol(), owner, true);
    const receipt = await act.emergencyCancelListing(protocol(), owner, first);
    expect(act.onlyEvent(receipt, bondMarketplaceAbi, "ListingEmergencyCancelled").args).toEqual({
      listingId: first,
      seller: alice.address,
      timestamp: await act.chainTime(protocol()),
    });
    await act.cancelListing(protocol(), alice, second);
    expect(await bondsOf(alice.address, epochId)).toBe(800n);
  });
});

describe("the marketplace reverts with", () => {
  test("InsufficientListingValue for a total price below one dollar, and for zero bonds", async () => {
    await expectRevert(list(500n, USDC - 1n), `InsufficientListingValue(${USDC - 1n}, ${USDC})`);
    await expectRevert(list(0n, USDC), `InsufficientListingValue(${USDC}, ${USDC})`);
    expect(await list(500n, USDC)).toBe(1n);
  });

  test("NotMatured with less than a day or more than 800 days to maturity, or for an unknown epoch", async () => {
    await expectRevert(act.listBond(protocol(), alice, 202_001n, 1n, USDC), "NotMatured(202001, 0)");
    const maturity = await act.maturityDate(protocol(), epochId);
    await act.nextBlockAt(protocol(), maturity - DAY);
    expect(await list(1n, USDC)).toBe(1n);
    await act.nextBlockAt(protocol(), maturity - DAY + 1n);
    await expectRevert(list(1n, USDC), `NotMatured(${epochId}, ${DAY - 1n})`);
    await act.nextBlockAt(protocol(), maturity + DAY);
    await expectRevert(list(1n, USDC), `NotMatured(${epochId}, 0)`);
  });

  test("NotBondOwner for more bonds than the seller has, and for another seller's listing", async () => {
    await expectRevert(list(801n, 801n * USDC), `NotBondOwner(${alice.address})`);
    await expectRevert(act.listBond(protocol(), bob, epochId, 1n, USDC), `NotBondOwner(${bob.address})`);
    const id = await list();
    await expectRevert(act.cancelListing(protocol(), bob, id), `NotBondOwner(${bob.address})`);
    await expectRevert(act.cancelListing(protocol(), owner, id), `NotBondOwner(${owner.address})`);
  });

  test("ListingNotFound for a sold, cancelled or unknown listing", async () => {
    const [sold, cancelled] = [await list(100n, 100n * USDC), await list(100n, 100n * USDC)];
    await act.buyListing(protocol(), bob, sold);
    await act.cancelListing(protocol(), alice, cancelled);
    for (const id of [sold, cancelled, 99n]) {
      await expectRevert(act.buyListing(protocol(), bob, id), `ListingNotFound(${id})`);
      await expectRevert(act.cancelListing(protocol(), alice, id), `ListingNotFound(${id})`);
      await expectRevert(act.emergencyCancelListing(protocol(), owner, id), `ListingNotFound(${id})`);
    }
  });

  test("ContractPaused for listing and buying during the global pause", async () => {
    const id = await list(100n, 100n * USDC);
    await act.setGlobalPause(protocol(), owner, true);
    await expectRevert(list(100n, 100n * USDC), "ContractPaused");
    await expectRevert(act.buyListing(protocol(), bob, id), "ContractPaused");
  });

  test("the token's error when the buyer cannot pay price and fee, and the listing stays", async () => {
    const id = await list();
    const { marketplace } = protocol().deployment.contracts;
    await act.approveUsdc(protocol(), bob, marketplace, 558_250_000n - 1n);
    // The fees are transferred last, after the price minus the seller's fee.
    await expectRevert(
      act.buyListing(protocol(), bob, id),
      `ERC20InsufficientAllowance(${marketplace}, ${16_500_000n - 1n}, 16500000)`,
    );
    expect((await listing(id))[4]).toBe(true);
    await expectRevert(
      act.emergencyCancelListing(protocol(), alice, id),
      `OwnableUnauthorizedAccount(${alice.address})`,
    );
  });
});
