/** Plans what a wallet does on the marketplace: list bonds, buy a listing, cancel one. */
import { encodeFunctionData, isAddressEqual } from "viem";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { ApiError } from "../../lib/errors.ts";
import { readFunds } from "../chain/contracts/funds.ts";
import {
  type ChainListing,
  readCanTransfer,
  readListing,
  readWalletBonds,
} from "../chain/contracts/market.ts";
import { readPauses } from "../chain/contracts/selling.ts";
import { usdcText } from "./amount-text.ts";
import {
  allowanceIssue,
  balanceIssue,
  bondApprovalIssue,
  bondBalanceIssue,
  listingClosedIssue,
  minimumIssue,
  notListableIssue,
  notSellerIssue,
  pausedIssue,
  transferIssue,
  unknownBondIssue,
} from "./issues.ts";
import { issuesOf, type Plan, type PlanContext } from "./plan.ts";
import { actionStep, bondApproval, bondRevocation, usdcApproval } from "./steps.ts";

const DAY = 86_400n;
/** `MINIMUM_DURATION` and `MAXIMUM_DURATION` of the marketplace: how long before their maturity bonds can be listed. */
const LISTABLE_UNTIL = DAY;
const LISTABLE_FROM = 800n * DAY;
/** `MINIMUM_PRICE` of the marketplace, USDC with 6 decimals. */
const MINIMUM_PRICE = 1_000_000n;

type NewListing = { readonly epochId: bigint; readonly amount: bigint; readonly totalPriceUsdc: bigint };

/** Why bonds cannot be listed at the block's time, by their maturity (Unix seconds). */
function maturityIssue({ block }: PlanContext, epochId: bigint, maturity: bigint | null) {
  if (maturity === null) return unknownBondIssue(epochId);
  const [from, until] = [maturity - LISTABLE_FROM, maturity - LISTABLE_UNTIL];
  const isListable = block.timestamp >= from && block.timestamp <= until;
  return isListable ? undefined : notListableIssue(maturity, from, until);
}

/** Plans a listing: the marketplace takes the bonds into escrow. The price is USDC with 6 decimals. */
export async function planListing(context: PlanContext, listing: NewListing): Promise<Plan> {
  const { reads, contracts, block, from } = context;
  const { epochId, amount, totalPriceUsdc: price } = listing;
  const { marketplace } = contracts;
  const [{ globallyPaused }, canTransfer, bonds] = await Promise.all([
    readPauses(reads, contracts, block.number),
    readCanTransfer(reads, contracts, block.number),
    readWalletBonds(reads, contracts, from, epochId, block.number),
  ]);
  const { balance, maturityDate, approved } = bonds;
  return {
    summary: `Lists ${amount} bonds of ${epochId} for ${usdcText(price)}, of which the marketplace keeps 1.5 % at the sale.`,
    issues: issuesOf(
      globallyPaused ? pausedIssue("protocol") : undefined,
      minimumIssue("amount", amount, 1n),
      minimumIssue("totalPriceUsdc", price, MINIMUM_PRICE),
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
    endsAt: maturityDate === null ? [] : [maturityDate - LISTABLE_UNTIL],
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
  const [listing, { globallyPaused }, canTransfer, funds] = await Promise.all([
    requireListing(context, listingId),
    readPauses(reads, contracts, block.number),
    readCanTransfer(reads, contracts, block.number),
    readFunds(reads, contracts, from, block.number, marketplace),
  ]);
  const { seller, epochId, amount, price, active, fee } = listing;
  const total = price + fee;
  // A wallet that buys its own listing pays itself first: it needs only the larger of both payments.
  const largest = price - fee > 2n * fee ? price - fee : 2n * fee;
  const needed = isAddressEqual(seller, from) ? largest : total;
  return {
    summary: `Buys ${amount} bonds of ${epochId} from ${seller} for ${usdcText(total)}: ${usdcText(price)} and the buyer's fee of ${usdcText(fee)}.`,
    issues: issuesOf(
      globallyPaused ? pausedIssue("protocol") : undefined,
      active ? undefined : listingClosedIssue(listingId),
      balanceIssue(usdc, funds.balance, needed),
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
    endsAt: [],
  };
}

/** Plans the cancellation of a listing, which no pause stops. @throws ApiError `listing_not_found` */
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
