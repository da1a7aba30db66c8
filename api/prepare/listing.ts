/** Plans what a wallet does on the marketplace: list bonds, buy a listing, cancel one, withdraw the proceeds. */
import { encodeFunctionData, isAddressEqual } from "viem";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { ApiError } from "../../lib/errors.ts";
import { readFunds } from "../chain/contracts/funds.ts";
import {
  type ChainListing,
  readCanTransfer,
  readListing,
  readListingTerms,
  readMaturity,
  readWalletBonds,
  readWithdrawable,
} from "../chain/contracts/market.ts";
import { usdcText } from "./amount-text.ts";
import {
  allowanceIssue,
  balanceIssue,
  bondApprovalIssue,
  bondBalanceIssue,
  listingClosedIssue,
  minimumIssue,
  nothingToWithdrawIssue,
  notListableIssue,
  notSellerIssue,
  transferIssue,
  unknownBondIssue,
} from "./issues.ts";
import { issuesOf, type Plan, type PlanContext } from "./plan.ts";
import { actionStep, bondApproval, bondRevocation, usdcApproval } from "./steps.ts";

type NewListing = { readonly epochId: bigint; readonly amount: bigint; readonly totalPriceUsdc: bigint };

/** Why bonds cannot be traded at the block's time, by their maturity (Unix seconds). */
function maturityIssue({ block }: PlanContext, epochId: bigint, maturity: bigint | null) {
  if (maturity === null) return unknownBondIssue(epochId);
  return block.timestamp < maturity ? undefined : notListableIssue(maturity);
}

/** The last second in which bonds can be traded. */
const lastSecond = (maturity: bigint | null): readonly bigint[] => (maturity === null ? [] : [maturity - 1n]);

/** Plans a listing: the marketplace takes the bonds into escrow. The price is USDC with 6 decimals. */
export async function planListing(context: PlanContext, listing: NewListing): Promise<Plan> {
  const { reads, contracts, block, from } = context;
  const { epochId, amount, totalPriceUsdc: price } = listing;
  const { marketplace } = contracts;
  const [{ minimumPrice, sellerFeeOf }, canTransfer, bonds] = await Promise.all([
    readListingTerms(reads, contracts, block.number),
    readCanTransfer(reads, contracts, block.number),
    readWalletBonds(reads, contracts, from, epochId, block.number),
  ]);
  const { balance, maturityDate, approved } = bonds;
  return {
    summary: `Lists ${amount} bonds of ${epochId} for ${usdcText(price)}. At the sale the marketplace keeps ${usdcText(sellerFeeOf(price))}, and the seller withdraws the rest.`,
    issues: issuesOf(
      minimumIssue("amount", amount, 1n),
      minimumIssue("totalPriceUsdc", price, minimumPrice > 0n ? minimumPrice : 1n),
      maturityIssue(context, epochId, maturityDate),
      bondBalanceIssue(epochId, balance, amount),
      approved ? undefined : bondApprovalIssue(marketplace),
      canTransfer ? undefined : transferIssue(marketplace),
    ),
    steps: [
      bondApproval(marketplace, approved),
      actionStep({
        id: "list",
        description: `Lists ${amount} bonds of ${epochId} for ${usdcText(price)}. The marketplace holds them until they are sold or the listing is cancelled.`,
        contract: "marketplace",
        abi: bondMarketplaceAbi,
        data: encodeFunctionData({
          abi: bondMarketplaceAbi,
          functionName: "list",
          args: [epochId, amount, price],
        }),
        report: {
          method: "POST",
          path: "/api/v1/marketplace/list",
          body: {
            epochId: String(epochId),
            amount: String(amount),
            totalPriceUsdc: String(price),
            sellerAddress: from,
          },
        },
      }),
      bondRevocation(marketplace),
    ],
    endsAt: lastSecond(maturityDate),
  };
}

/** A listing, active or closed. @throws ApiError `listing_not_found` */
async function requireListing(
  { reads, contracts, block }: PlanContext,
  listingId: bigint,
): Promise<ChainListing> {
  const listing = await readListing(reads, contracts, listingId, block.number);
  if (!listing) throw new ApiError("listing_not_found", `There is no listing ${listingId}.`);
  return listing;
}

/** Plans the purchase of a whole listing. @throws ApiError `listing_not_found` */
export async function planListingPurchase(
  context: PlanContext,
  { listingId }: { readonly listingId: bigint },
): Promise<Plan> {
  const { reads, contracts, block, from } = context;
  const { marketplace, usdc } = contracts;
  const listing = await requireListing(context, listingId);
  const { seller, epochId, amount, price, active, buyerFee } = listing;
  const [maturity, canTransfer, funds] = await Promise.all([
    readMaturity(reads, contracts, epochId, block.number),
    readCanTransfer(reads, contracts, block.number),
    readFunds(reads, contracts, from, block.number, marketplace),
  ]);
  const total = price + buyerFee;
  return {
    summary: `Buys ${amount} bonds of ${epochId} from ${seller} for ${usdcText(total)}: ${usdcText(price)} and the buyer's fee of ${usdcText(buyerFee)}.`,
    issues: issuesOf(
      active ? undefined : listingClosedIssue(listingId),
      active ? maturityIssue(context, epochId, maturity) : undefined,
      balanceIssue(usdc, funds.balance, total),
      allowanceIssue(marketplace, funds.allowance, total),
      canTransfer ? undefined : transferIssue(marketplace),
    ),
    steps: [
      usdcApproval("marketplace", marketplace, total, funds.allowance),
      actionStep({
        id: "buy",
        description: `Buys listing ${listingId}: ${amount} bonds of ${epochId} for ${usdcText(total)}.`,
        contract: "marketplace",
        abi: bondMarketplaceAbi,
        data: encodeFunctionData({ abi: bondMarketplaceAbi, functionName: "executeBuy", args: [listingId] }),
        report: {
          method: "POST",
          path: "/api/v1/marketplace/buy",
          body: {
            listingId: String(listingId),
            amount: String(amount),
            totalPaidUsdc: String(total),
            buyerAddress: from,
          },
        },
      }),
    ],
    endsAt: lastSecond(maturity),
  };
}

/** Plans the cancellation of a listing, also of matured bonds. @throws ApiError `listing_not_found` */
export async function planCancellation(
  context: PlanContext,
  { listingId }: { readonly listingId: bigint },
): Promise<Plan> {
  const { reads, contracts, block, from } = context;
  const [listing, canTransfer] = await Promise.all([
    requireListing(context, listingId),
    readCanTransfer(reads, contracts, block.number),
  ]);
  const { seller, epochId, amount, active } = listing;
  const what = `listing ${listingId}: the marketplace returns ${amount} bonds of ${epochId} to ${seller}.`;
  return {
    summary: `Cancels ${what}`,
    issues: issuesOf(
      active ? undefined : listingClosedIssue(listingId),
      isAddressEqual(seller, from) ? undefined : notSellerIssue(seller),
      canTransfer ? undefined : transferIssue(contracts.marketplace),
    ),
    steps: [
      actionStep({
        id: "cancel",
        description: `Cancels ${what}`,
        contract: "marketplace",
        abi: bondMarketplaceAbi,
        data: encodeFunctionData({ abi: bondMarketplaceAbi, functionName: "cancel", args: [listingId] }),
      }),
    ],
    endsAt: [],
  };
}

/** Plans the withdrawal of all that the wallet's sales have credited. */
export async function planWithdrawal({ reads, contracts, block, from }: PlanContext): Promise<Plan> {
  const credit = await readWithdrawable(reads, contracts, from, block.number);
  const what = `${usdcText(credit)} that the wallet's sales have brought.`;
  return {
    summary: `Withdraws ${what}`,
    issues: issuesOf(credit > 0n ? undefined : nothingToWithdrawIssue),
    steps: [
      actionStep({
        id: "withdraw",
        description: `Withdraws ${what}`,
        contract: "marketplace",
        abi: bondMarketplaceAbi,
        data: encodeFunctionData({ abi: bondMarketplaceAbi, functionName: "withdraw" }),
      }),
    ],
    endsAt: [],
  };
}
