/** The figures of the whole marketplace. */
import { asc, type Column, count, gte, sql, sum } from "drizzle-orm";
import { listing, protocolStats, sale } from "../../ponder.schema.ts";
import type { IndexQuery } from "./reader.ts";
import { between, blockAt } from "./walk.ts";

const DAY_SECONDS = 86_400n;
const NO_LIMIT = sql`'Infinity'::numeric`;

/** The lowest value of a price column among active listings; null without one. Uses the index on status and the column. */
async function lowest(db: IndexQuery, price: Column): Promise<bigint | null> {
  const key = [listing.status, price, listing.listingId];
  const [row] = await db
    .select({ price: sql<string>`${price}` })
    .from(listing)
    .where(between(key, [sql`${"active"}`, sql`0`, sql`0`], [sql`${"active"}`, NO_LIMIT, NO_LIMIT]))
    .orderBy(...key.map((column) => asc(column)))
    .limit(1);
  return row ? BigInt(row.price) : null;
}

/** Number and total price (USDC, 6 decimals, before fees) of the sales in the day before `now` (Unix seconds). */
async function salesOfDay(db: IndexQuery, now: bigint): Promise<{ sales: number; volume: bigint }> {
  const [row] = await db
    .select({ sales: count(), volume: sum(sale.price) })
    .from(sale)
    .where(gte(sale.blockNumber, blockAt(sale, now - DAY_SECONDS + 1n)));
  return { sales: row?.sales ?? 0, volume: BigInt(row?.volume ?? 0) };
}

/** Reads floors, the day's sales and the sums of all time; `now` is awaited only by what needs it. */
export async function readMarketStats(db: IndexQuery, now: Promise<bigint>) {
  const [floor, floorPerUnit, day, [sums]] = await Promise.all([
    lowest(db, listing.price),
    lowest(db, listing.unitPrice),
    now.then((time) => salesOfDay(db, time)),
    db
      .select({
        activeListings: protocolStats.activeListings,
        sales: protocolStats.sales,
        volume: protocolStats.marketVolume,
        fees: protocolStats.marketFees,
      })
      .from(protocolStats),
  ]);
  return { floor, floorPerUnit, day, sums };
}
