import { getAddress } from "viem";
import { isoTime } from "../http/field-types.ts";
import type { ListingRow } from "./listing-queries.ts";

/** The marketplace's word for the end of a listing, by that of the index. */
const statusOf = { active: "active", sold: "executed", cancelled: "cancelled" } as const;

/** A whole dollar of face value in USDC. */
const DOLLAR = 1_000_000n;

/** Whole basis points by which a total price (USDC) is below the face value of `amount` dollars; 0 at or above it. */
export function discountBps(price: bigint, amount: bigint): number {
  const face = amount * DOLLAR;
  return price >= face ? 0 : Number(((face - price) * 10_000n) / face);
}

/** A listing at the time `now` (Unix seconds). */
export function listingBody(row: ListingRow, now: bigint) {
  const seller = getAddress(row.seller);
  const buyer = row.buyer === null ? null : getAddress(row.buyer);
  return {
    listingId: String(row.listingId),
    seller,
    sellerAddress: seller,
    bondId: String(row.epochId),
    epochId: String(row.epochId),
    amount: String(row.amount),
    totalPriceUsdc: String(row.price),
    priceUsdc: String(row.price),
    pricePerUnit: String(row.unitPrice),
    discountBps: discountBps(row.price, row.amount),
    maturityDate: row.maturityDate === null ? null : isoTime(row.maturityDate),
    matured: row.maturityDate !== null && now >= row.maturityDate,
    status: statusOf[row.status],
    buyer,
    createdAt: isoTime(row.blockTimestamp),
    listedAt: String(row.blockTimestamp),
    closedAt: row.closedAt === null ? null : isoTime(row.closedAt),
    closedTxHash: row.closedTxHash,
    txHash: row.txHash,
    blockNumber: String(row.blockNumber),
    logIndex: row.logIndex,
  };
}
