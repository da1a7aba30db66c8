import { asc, eq, sql } from "drizzle-orm";
import { bondEpoch, listing, marketDay, marketEpoch } from "../../../ponder.schema.ts";
import type { IndexQuery } from "../../indexed/reader.ts";
import { between } from "../../indexed/walk.ts";

/** Sales by UTC day, oldest first, one row for each day with sales. */
export const readMarketDays = (db: IndexQuery) =>
  db.select().from(marketDay).orderBy(asc(marketDay.dayStart));

/**
 * Every epoch whose bonds were listed, the earliest first, with its maturity and the lowest price per bond of its active
 * listings: the first row of an index for each epoch.
 */
export function readMarketEpochs(db: IndexQuery) {
  const { status, epochId, unitPrice, listingId } = listing;
  const key = [status, epochId, unitPrice, listingId];
  const active = sql`${"active"}`;
  const zero = sql`0`;
  const last = sql`'Infinity'::numeric`;
  const floor = sql<string | null>`(
    select ${unitPrice} from ${listing}
    where ${between(key, [active, sql`${marketEpoch.epochId}`, zero, zero], [active, sql`${marketEpoch.epochId}`, last, last])}
    order by ${sql.join(
      key.map((column) => asc(column)),
      sql`, `,
    )} limit 1)::text`;
  return db
    .select({
      epochId: marketEpoch.epochId,
      activeListings: marketEpoch.activeListings,
      listed: marketEpoch.listed,
      sales: marketEpoch.sales,
      amount: marketEpoch.amount,
      volume: marketEpoch.volume,
      fees: marketEpoch.fees,
      maturityDate: bondEpoch.maturityDate,
      floor,
    })
    .from(marketEpoch)
    .leftJoin(bondEpoch, eq(bondEpoch.epochId, marketEpoch.epochId))
    .orderBy(asc(marketEpoch.epochId));
}
