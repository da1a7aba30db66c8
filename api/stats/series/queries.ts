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

const boughtBetween = (table: PolicyTable, start: bigint, end: bigint) => sql`
  select created_at, buyer from ${table}
  where (block_number, log_index) >= (${blockAt(table, start)}, 0)
    and (block_number, log_index) < (${blockAt(table, end)}, 0)`;

const soldBetween = (start: bigint, end: bigint) =>
  sql.join(
    [policy, replacedPolicy].map((table) => boughtBetween(table, start, end)),
    sql` union all `,
  );

/** The time of the first policy of buyer `b.buyer`. */
const firstOf = (table: PolicyTable) => sql`
  (select p.created_at from ${table} p where p.buyer = b.buyer
    order by p.buyer, p.block_number, p.log_index limit 1)`;

/** These buyers, each with the time of its first policy. */
const firstTimes = (buyers: SQL) => sql`
  select b.buyer, f.created_at from (${buyers}) b,
    lateral (select min(created_at) as created_at
      from (${sql.join([policy, replacedPolicy].map(firstOf), sql` union all `)}) firsts) f`;

/**
 * Counts the buyers whose first policy is in each bucket. If all buyers together are fewer than half of the buckets' policies, it looks
 * up the first policy of each of them. Otherwise it reads these policies, and the first one of each of their buyers. A look-up takes
 * about as long as two policies that are read in a row.
 */
const countNewBuyers = (buckets: readonly Bucket[], start: bigint, end: bigint) => sql`
  with half as (
    select coalesce(sum(policies), 0)::bigint / 2 as policies
    from ${productDay} where day_start >= ${String(start)} and day_start < ${String(end)}),
  fewer as (
    select count(*) < (select policies from half) as buyers
    from (select from ${account} order by address limit (select policies from half)) known),
  buyers as (
    select address as buyer from ${account} where (select buyers from fewer)
    union all
    select distinct buyer from (${soldBetween(start, end)}) bought where not (select buyers from fewer))
  select (${placeOf(sql`created_at`, buckets)})::integer as bucket, count(*)::text as value, count(*)::integer as events
  from (${firstTimes(sql`select buyer from buyers`)}) first
  where created_at >= ${String(start)} and created_at < ${String(end)}
  group by 1`;

/**
 * Counts the buyers of each bucket whose first policy is in an earlier one. Reads the policies of the buckets, and of each of their
 * buyers the first one.
 */
const countReturningBuyers = (buckets: readonly Bucket[], start: bigint, end: bigint) => sql`
  with bought as (
    select distinct ${placeOf(sql`created_at`, buckets)} as bucket, buyer
    from (${soldBetween(start, end)}) sold),
  first as (
    select buyer, ${placeOf(sql`created_at`, buckets)} as bucket
    from (${firstTimes(sql`select distinct buyer from bought`)}) f)
  select bought.bucket::integer as bucket, count(*)::text as value, count(*)::integer as events
  from bought join first using (buyer) where first.bucket < bought.bucket
  group by 1`;

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
    return rows.parse([...(await db.execute(buyerCounts[metric](buckets, first.start, last.end)))]);
  }
  const { days, value, events } = daySums[metric];
  const found = await db.execute(sql`
    select (${placeOf(sql`day_start`, buckets)})::integer as bucket,
      sum(${value})::text as value, sum(${events})::integer as events
    from ${days} where day_start >= ${String(first.start)} and day_start < ${String(last.end)}
      ${product === undefined ? sql`` : sql`and product_id = ${product}`} group by 1`);
  return rows.parse([...found]);
}
