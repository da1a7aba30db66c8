/** Bonds of a wallet, and the market on which they are sold. */
import { type Context, given, type Options, type Read, read } from "./context.ts";
import { entries } from "./entries.ts";

export type Bond = Read<"/api/v1/bonds/by-owner/{address}">["bonds"][number];
export type Listing = Read<"/api/v1/marketplace/listings/{listingId}">;

/** The largest page. A wallet has bonds of few months: an epoch is a month of maturity. */
const BONDS = 100;

/** What a wallet holds, by epoch; amounts in whole dollars. */
export const bondsOf = async (
  context: Context,
  address: string,
  options: Options = {},
): Promise<readonly Bond[]> => {
  const request = { path: { address }, query: { limit: BONDS }, ...given(options) };
  return (await read(context, "/api/v1/bonds/by-owner/{address}", request)).bonds;
};

/** What is for sale, newest first. */
export const listings = (context: Context, options: Options = {}) =>
  entries(context, "/api/v1/marketplace/active-listings", "listings", given(options));

/** A listing, also one that is sold or cancelled. @throws ApiError `listing_not_found` */
export const getListing = (context: Context, listingId: bigint, options: Options = {}): Promise<Listing> =>
  read(context, "/api/v1/marketplace/listings/{listingId}", {
    path: { listingId: String(listingId) },
    ...given(options),
  });

/** What was sold, newest first. */
export const sales = (context: Context, options: Options = {}) =>
  entries(context, "/api/v1/marketplace/recent-sales", "sales", given(options));

/** Floor, volume, fees. */
export const marketStats = (context: Context, options: Options = {}) =>
  read(context, "/api/v1/marketplace/stats", given(options));
