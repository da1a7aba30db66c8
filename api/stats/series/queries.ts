/** Reads the sums of a metric by bucket. */
import { type Column, type SQL, sql } from "drizzle-orm";
import type { Hex } from "viem";
import { z } from "zod";
import { account, burnDay, marketDay, policy, productDay, replacedPolicy } from "../../../ponder.schema.ts";
import type { IndexQuery } from "../../indexed/reader.ts";
import { blockAt } from "../../indexed/walk.ts";
import type { Bucket } from "./buckets.ts";
import type { Metric, units } from "./routes.ts";

const bucketRow = z.object({
  bucket: z.int(),
  value: z.string().transform(BigInt),
  events: z.coerce.number(),
});
/** A bucket with events, by its place in the list. */
export type BucketSums = z.output<typeof bucketRow>;

type Unit = (typeof units)[number];
type DaySums = {
  readonly unit: Unit;
  /** Rows by day, some by product. */
  readonly days: SQL;
  readonly value: Column;
  readonly events: Column;
};

const ofProducts = (unit: Unit, value: Column, events: Column): DaySums => ({
  ...{ unit, value, events, days: sql`${productDay}` },
});

/** The metrics that are sums of days. */
const daySums: Readonly<Record<Exclude<Metric, "new_buyers" | "returning_buyers">, DaySums>> = {
  premiums: ofProducts("usdc", productDay.premium, productDay.policies),
  cover: ofProducts("usdc", productDay.coverage, productDay.policies),
  policies: ofProducts("count", productDay.policies, productDay.policies),
  payouts: ofProducts("dollars", productDay.paid, productDay.triggered),
  triggers: ofProducts("count", productDay.triggered, productDay.triggered),
  burns: { unit: "token", days: sql`${burnDay}`, value: burnDay.tokenBurned, events: burnDay.burns },
  bond_sales: { unit: "usdc", days: sql`${marketDay}`, value: marketDay.volume, events: marketDay.sales },
};

export const unitOf = (metric: Metric): Unit =>
  metric === "new_buyers" || metric === "returning_buyers" ? "count" : daySums[metric].unit;

/** The place of a time in the list of buckets. As a query of its own the list is parsed once, and not for each row. */
const placeOf = (time: SQL, buckets: readonly Bucket[]): SQL =>
  sql`width_bucket(${time}::bigint, (select ${`{${buckets.map(({ start }) => start).join(",")}}`}::text::bigint[])) - 1`;

type PolicyTable = typeof policy | typeof replacedPolicy;

/** Rows of both tables that have policies. */
const ofBothTables = (rows: (table: PolicyTable) => SQL): SQL =>
  sql.join([policy, replacedPolicy].map(rows), sql` union all `);

const soldBetween = (start: bigint, end: bigint): SQL =>
  ofBothTables(
    (table) => sql`
    select created_at, buyer from ${table}
    where (block_number, log_index) >= (${blockAt(table, start)}, 0)
      and (block_number, log_index) < (${blockAt(table, end)}, 0)`,
  );

/** The time of the first policy of buyer `b.buyer`. */
const firstOf = (table: PolicyTable): SQL => sql`
  (select p.created_at from ${table} p where p.buyer = b.buyer
    order by p.buyer, p.block_number, p.log_index limit 1)`;

/** These buyers, each with the time of its first policy. */
const firstTimes = (buyers: SQL): SQL => sql`
  select b.buyer, f.created_at from (${buyers}) b,
    lateral (select min(created_at) as created_at from (${ofBothTables(firstOf)}) firsts) f`;

/**
 * Whether all buyers are fewer than half of the policies sold in the period. Then it takes less time to look up the first policy of
 * each buyer than to read these policies: a look-up takes about as long as two of them.
 */
async function areBuyersFewer(db: IndexQuery, start: bigint, end: bigint): Promise<boolean> {
  const [row] = await db.execute(sql`
    with half as (
      select coalesce(sum(policies), 0)::bigint / 2 as policies
      from ${productDay} where day_start >= ${String(start)} and day_start < ${String(end)})
    select count(*) < (select policies from half) as fewer
    from (select from ${account} order by address limit (select policies from half)) known`);
  return z.object({ fewer: z.boolean() }).parse(row).fewer;
}

/** Counts the buyers whose first policy is in each bucket. */
async function countNewBuyers(db: IndexQuery, buckets: readonly Bucket[], start: bigint, end: bigint) {
  const buyers = (await areBuyersFewer(db, start, end))
    ? sql`select address as buyer from ${account}`
    : sql`select distinct buyer from (${soldBetween(start, end)}) sold`;
  return db.execute(sql`
    select (${placeOf(sql`created_at`, buckets)})::integer as bucket, count(*)::text as value, count(*)::integer as events
    from (${firstTimes(buyers)}) first
    where created_at >= ${String(start)} and created_at < ${String(end)} group by 1`);
}

/** Counts the buyers of each bucket whose first policy is in an earlier bucket, or before all of them. */
const countReturningBuyers = (db: IndexQuery, buckets: readonly Bucket[], start: bigint, end: bigint) =>
  db.execute(sql`
    with bought as (
      select distinct ${placeOf(sql`created_at`, buckets)} as bucket, buyer
      from (${soldBetween(start, end)}) sold),
    first as (
      select buyer, ${placeOf(sql`created_at`, buckets)} as bucket
      from (${firstTimes(sql`select distinct buyer from bought`)}) f)
    select bought.bucket::integer as bucket, count(*)::text as value, count(*)::integer as events
    from bought join first using (buyer) where first.bucket < bought.bucket group by 1`);

const buyerCounts = { new_buyers: countNewBuyers, returning_buyers: countReturningBuyers };

/** Reads the buckets with events. The buckets follow each other. */
export async function readSeries(
  db: IndexQuery,
  { metric, product }: { readonly metric: Metric; readonly product?: Hex | undefined },
  buckets: readonly Bucket[],
): Promise<BucketSums[]> {
  const [first, last] = [buckets[0], buckets.at(-1)];
  if (first === undefined || last === undefined) return [];
  const rows = z.array(bucketRow);
  if (metric === "new_buyers" || metric === "returning_buyers") {
    return rows.parse([...(await buyerCounts[metric](db, buckets, first.start, last.end))]);
  }
  const { days, value, events } = daySums[metric];
  const found = await db.execute(sql`
    select (${placeOf(sql`day_start`, buckets)})::integer as bucket,
      sum(${value})::text as value, sum(${events})::integer as events
    from ${days} where day_start >= ${String(first.start)} and day_start < ${String(last.end)}
      ${product === undefined ? sql`` : sql`and product_id = ${product}`} group by 1`);
  return rows.parse([...found]);
}
