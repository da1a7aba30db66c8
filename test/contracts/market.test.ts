/** The marketplace: escrow, sales of whole listings, both fees, withdrawals, and every revert; the buyback of a listing. */
import { encodeFunctionData, keccak256, parseEther, parseEventLogs, toHex } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { namesOf } from "./log-order.ts";
import { readsOf } from "./reads.ts";
import { alice, bob, expectRevert, owner, stranger, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const { bondsOf, usdcOf, tokensOf } = readsOf(protocol);
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

const contracts = () => protocol().deployment.contracts;
const marketNumber = (
  functionName: "nextListingId" | "minPricePerUnit" | "SELLER_FEE_BPS" | "BUYER_FEE_BPS",
) =>
  protocol().client.readContract({ abi: bondMarketplaceAbi, address: contracts().marketplace, functionName });
const creditOf = (seller: typeof alice) =>
  protocol().client.readContract({
    abi: bondMarketplaceAbi,
    address: contracts().marketplace,
    functionName: "pendingWithdrawals",
    args: [seller.address],
  });

describe("a listing", () => {
  test("takes the bonds into escrow; ids count from 0", async () => {
    expect(await marketNumber("nextListingId")).toBe(0n);
    const data = encodeFunctionData({
      abi: bondMarketplaceAbi,
      functionName: "list",
      args: [epochId, 500n, 550n * USDC],
    });
    const receipt = await act.send(protocol(), alice, contracts().marketplace, data);
    expect(namesOf(receipt)).toEqual(["TransferSingle", "Listed"]);
    expect(await listing(0n)).toEqual([alice.address, epochId, 500n, 550n * USDC, true]);
    expect(await bondsOf(alice.address, epochId)).toBe(300n);
    expect(await bondsOf(contracts().marketplace, epochId)).toBe(500n);
    expect(await list(1n, USDC)).toBe(1n);
  });

  test("is sold as a whole: the seller is credited, and 1.5 % of each side goes to the burner", async () => {
    const id = await list();
    const { twapBurner, marketplace } = contracts();
    const fees = { abi: bondMarketplaceAbi, address: marketplace, functionName: "calculateFees" } as const;
    expect(await protocol().client.readContract({ ...fees, args: [550n * USDC] })).toEqual([
      ...[8_250_000n, 8_250_000n, 16_500_000n],
    ]);
    // Each fee is rounded down by itself.
    expect(await protocol().client.readContract({ ...fees, args: [1_000_066n] })).toEqual([
      ...[15_000n, 15_000n, 30_000n],
    ]);
    const [seller, buyer, burner] = [
      await usdcOf(alice.address),
      await usdcOf(bob.address),
      await usdcOf(twapBurner),
    ];
    const receipt = await act.buyListing(protocol(), bob, id);
    expect(namesOf(receipt)).toEqual([
      ...["Transfer", "WithdrawalCredited", "Transfer", "TransferSingle", "Bought"],
    ]);
    expect(await usdcOf(alice.address)).toBe(seller);
    expect(await creditOf(alice)).toBe(541_750_000n);
    expect(buyer - (await usdcOf(bob.address))).toBe(558_250_000n);
    expect((await usdcOf(twapBurner)) - burner).toBe(16_500_000n);
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
    expect(act.onlyEvent(receipt, bondMarketplaceAbi, "WithdrawalCredited").args).toEqual({
      seller: alice.address,
      amount: 541_750_000n,
    });
  });

  test("returns its bonds to the seller when cancelled, also after maturity and during the global pause", async () => {
    const id = await list();
    await act.setGlobalPause(protocol(), owner, true);
    await act.mineAt(protocol(), await act.maturityDate(protocol(), epochId));
    const receipt = await act.cancelListing(protocol(), alice, id);
    expect(namesOf(receipt)).toEqual(["TransferSingle", "Cancelled"]);
    expect(act.onlyEvent(receipt, bondMarketplaceAbi, "Cancelled").args).toEqual({
      listingId: id,
      seller: alice.address,
    });
    expect(await bondsOf(alice.address, epochId)).toBe(800n);
  });

  test("can be made and bought during the global pause, which stops purchases of cover only", async () => {
    await act.setGlobalPause(protocol(), owner, true);
    await act.buyListing(protocol(), bob, await list());
    expect(await bondsOf(bob.address, epochId)).toBe(500n);
  });
});

describe("a seller", () => {
  test("withdraws the credits of all sales at once", async () => {
    for (const price of [100n, 200n]) await act.buyListing(protocol(), bob, await list(100n, price * USDC));
    expect(await creditOf(alice)).toBe(295_500_000n);
    const before = await usdcOf(alice.address);
    const receipt = await act.withdrawProceeds(protocol(), alice);
    expect(namesOf(receipt)).toEqual(["Transfer", "Withdrawn"]);
    expect(act.onlyEvent(receipt, bondMarketplaceAbi, "Withdrawn").args).toEqual({
      seller: alice.address,
      amount: 295_500_000n,
    });
    expect((await usdcOf(alice.address)) - before).toBe(295_500_000n);
    expect(await usdcOf(contracts().marketplace)).toBe(0n);
    await expectRevert(act.withdrawProceeds(protocol(), alice), "Nothing to withdraw");
    await expectRevert(act.withdrawProceeds(protocol(), bob), "Nothing to withdraw");
  });
});

describe("the marketplace reverts with", () => {
  test("InsufficientListingValue for a total price below the floor, and for zero bonds", async () => {
    await expectRevert(list(500n, USDC - 1n), `InsufficientListingValue(${USDC - 1n}, ${USDC})`);
    await expectRevert(list(0n, USDC), `InsufficientListingValue(${USDC}, ${USDC})`);
    expect(await list(500n, USDC)).toBe(0n);
    const receipt = await act.setMinimumListingPrice(protocol(), owner, 5n * USDC);
    expect(act.onlyEvent(receipt, bondMarketplaceAbi, "MinPricePerUnitUpdated").args).toEqual({
      oldPrice: USDC,
      newPrice: 5n * USDC,
    });
    expect(await marketNumber("minPricePerUnit")).toBe(5n * USDC);
    await expectRevert(list(1n, 5n * USDC - 1n), `InsufficientListingValue(4999999, 5000000)`);
    await act.setMinimumListingPrice(protocol(), owner, 0n);
    await expectRevert(list(1n, 0n), "InsufficientListingValue(0, 0)");
    await expectRevert(
      act.setMinimumListingPrice(protocol(), alice, 1n),
      `OwnableUnauthorizedAccount(${alice.address})`,
    );
  });

  test("NotMatured from the second of maturity, for a list and for a buy", async () => {
    const maturity = await act.maturityDate(protocol(), epochId);
    await act.nextBlockAt(protocol(), maturity - 2n);
    const id = await list(1n, USDC);
    await act.nextBlockAt(protocol(), maturity);
    await expectRevert(list(1n, USDC), `NotMatured(${epochId}, 0)`);
    await expectRevert(act.buyListing(protocol(), bob, id), `NotMatured(${epochId}, 0)`);
  });

  test("NotBondOwner for more bonds than the seller has, and for another seller's listing", async () => {
    await expectRevert(list(801n, 801n * USDC), `NotBondOwner(${alice.address})`);
    await expectRevert(act.listBond(protocol(), bob, epochId, 1n, USDC), `NotBondOwner(${bob.address})`);
    await expectRevert(act.listBond(protocol(), alice, 202_001n, 1n, USDC), `NotBondOwner(${alice.address})`);
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
    }
  });

  test("the token's error when the buyer cannot pay price and fee, and the listing stays", async () => {
    const id = await list();
    const { marketplace } = contracts();
    await act.approveUsdc(protocol(), bob, marketplace, 558_250_000n - 1n);
    await expectRevert(
      act.buyListing(protocol(), bob, id),
      `ERC20InsufficientAllowance(${marketplace}, ${558_250_000n - 1n}, 558250000)`,
    );
    expect((await listing(id))[4]).toBe(true);
  });
});

describe("a buyback", () => {
  beforeEach(() => act.mintUsdc(protocol(), owner, contracts().buybackEngine, 1_000n * USDC));

  test("burns the listing's bonds and tokens of the reserve worth 102 % of their face", async () => {
    const id = await list(500n, 400n * USDC);
    const reserve = await tokensOf(contracts().bondVault);
    const receipt = await act.buyBack(protocol(), owner, id);
    expect(namesOf(receipt)).toEqual([
      "Approval",
      ...["Transfer", "WithdrawalCredited", "Transfer", "TransferSingle", "Bought"],
      "Approval",
      ...["TransferSingle", "BondsBurnedByHolder", "ObligationsDecreased"],
      ...["Transfer", "ReservesBurned", "DoubleBurnExecuted", "OfferExecuted"],
    ]);
    // 510 USD at 0.10 USD.
    const burned = parseEther("5100");
    expect(reserve - (await tokensOf(contracts().bondVault))).toBe(burned);
    expect(act.onlyEvent(receipt, bondVaultAbi, "ReservesBurned").args).toMatchObject({
      caller: contracts().buybackEngine,
      amount: burned,
    });
    expect(act.onlyEvent(receipt, buybackEngineAbi, "DoubleBurnExecuted").args).toEqual({
      epochId,
      obligationsReduced: parseEther("500"),
      tokenBurned: burned,
    });
    expect(act.onlyEvent(receipt, buybackEngineAbi, "OfferExecuted").args).toEqual({
      ...{ listingId: id, epochId, amount: 500n, priceUSDC: 400n * USDC },
    });
    expect(act.onlyEvent(receipt, claimBondAbi, "BondsBurnedByHolder").args).toEqual({
      ...{ holder: contracts().buybackEngine, epochId, amount: 500n },
    });
    expect(await usdcOf(contracts().buybackEngine)).toBe(594n * USDC);
  });

  test("burns no tokens below 150 % solvency", async () => {
    const id = await list(500n, 400n * USDC);
    // 300 USD of bonds remain, and 70 million tokens are worth 449 USD: less than 1.5 × 300.
    await act.setTokenPrice(protocol(), owner, "0.00000642");
    const receipt = await act.buyBack(protocol(), owner, id);
    expect(act.onlyEvent(receipt, buybackEngineAbi, "CircuitBreakerTriggered").args).toEqual({
      ...{ solvency: 14_966n, threshold: 15_000n },
    });
    expect(parseEventLogs({ abi: bondVaultAbi, logs: receipt.logs, eventName: "ReservesBurned" })).toEqual(
      [],
    );
    expect(await bondsOf(contracts().buybackEngine, epochId)).toBe(0n);
  });

  test("is for its operators alone", async () => {
    const id = await list();
    await expectRevert(
      act.buyBack(protocol(), stranger, id),
      `AccessControlUnauthorizedAccount(${stranger.address}, ${keccak256(toHex("BUYBACK_OPERATOR_ROLE"))})`,
    );
    const receipt = await act.setDailyBuyback(protocol(), owner, 5_000n * USDC, 90n, 24n);
    expect(act.onlyEvent(receipt, buybackEngineAbi, "DailyBuybackConfigured").args).toEqual({
      ...{ budget: 5_000n * USDC, maxPercent: 90n, hoursInDay: 24n },
    });
  });
});
