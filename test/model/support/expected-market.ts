/** The marketplace's resources under the names that existing clients know, from the chain; newest first. */
import type { Row } from "../../src/support/rows.ts";
import { big, type ChainState, checksummed, named } from "./chain-state.ts";
import { newestFirst, positionOf, sales } from "./expected-lists.ts";

const isoTime = (seconds: unknown) => new Date(Number(seconds) * 1000).toISOString();

/** Every listing as a resource, the newest first. */
export function marketListings({ events, listings, maturities, now }: ChainState): Row[] {
  const endOf = (listingId: unknown) =>
    events.find(({ name, args }) => ["Bought", "Cancelled"].includes(name) && args.listingId === listingId);
  return newestFirst(named(events, "Listed")).map((event) => {
    const { listingId, seller, epochId, amount, priceUSDC } = event.args;
    const isActive = listings.some((one) => one.listing_id === listingId && one.active === true);
    const end = endOf(listingId);
    const isSold = end?.name === "Bought";
    const maturity = maturities.get(String(epochId));
    const face = big(amount) * 1_000_000n;
    const price = big(priceUSDC);
    return {
      listingId,
      seller: checksummed(seller),
      sellerAddress: checksummed(seller),
      bondId: epochId,
      epochId,
      amount,
      totalPriceUsdc: priceUSDC,
      priceUsdc: priceUSDC,
      pricePerUnit: String(price / big(amount)),
      discountBps: price < face ? Number(((face - price) * 10_000n) / face) : 0,
      maturityDate: maturity === undefined ? null : isoTime(maturity),
      matured: maturity !== undefined && now >= big(maturity),
      status: isActive ? "active" : isSold ? "executed" : "cancelled",
      buyer: isSold ? checksummed(end.args.buyer) : null,
      createdAt: isoTime(event.position.block_timestamp),
      listedAt: event.position.block_timestamp,
      closedAt: end ? isoTime(end.position.block_timestamp) : null,
      closedTxHash: end?.position.tx_hash ?? null,
      ...positionOf(event),
    };
  });
}

/** The sales with what the buyer paid. */
export const trades = (chainState: ChainState): Row[] =>
  sales(chainState).map(
    ({ totalPriceUsdc, sellerFeeUsdc: _, buyerFeeUsdc, listedAt: _listed, soldAt, ...row }) => ({
      ...row,
      buyerAddress: row.buyer,
      sellerAddress: row.seller,
      priceUsdc: totalPriceUsdc,
      totalPaidUsdc: String(big(totalPriceUsdc) + big(buyerFeeUsdc)),
      timestamp: soldAt,
      executedAt: isoTime(soldAt),
    }),
  );
