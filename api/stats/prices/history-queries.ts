/** Reads the prices of a covered asset over time. */
import { type SQL, sql } from "drizzle-orm";
import type { Hex } from "viem";
import { z } from "zod";
import { FEED_TO_PRICE } from "../../../lib/price-rules.ts";
import { oraclePhase, oracleRound } from "../../../ponder.schema.ts";
import type { IndexQuery } from "../../indexed/reader.ts";

/** A stretch of time that ends at the indexed block, and the length of the steps in which its rounds are summed up, in seconds. */
export type PriceRange = { readonly seconds: bigint; readonly step: bigint };

const integerText = z.string().transform(BigInt);
const stepRow = z.object({
  updated_at: integerText,
  price: integerText,
  lowest: integerText,
  highest: integerText,
  rounds: z.int(),
});
/** The answers of a step: time and price of the newest, the lowest and the highest price (18 decimals), and their number. */
export type PriceStep = z.output<typeof stepRow>;

/** The rounds `r` that an asset's feed has answered: those of the phase that the feed had at their log. For a `from`. */
const roundsOf = (asset: Hex) => sql`
  ${oracleRound} r
  where r.asset = ${asset} and r.answer > 0 and r.phase = (
    select max(b.phase) from ${oraclePhase} b
    where b.asset = ${asset} and (b.block_number, b.log_index) <= (r.block_number, r.log_index))`;

/** The answers that an asset's feed had as each phase `b` began, for a `from`. */
const beginsOf = (asset: Hex) => sql`${oraclePhase} b where b.asset = ${asset} and b.answer > 0`;

/**
 * Reads an asset's prices from `from` (Unix seconds, included) to `to` (excluded), the oldest first, one row for each step that has answers,
 * and before them the newest answer before `from`: its price held at `from`. Uses the index on asset and time.
 */
export async function readPriceSteps(
  db: IndexQuery,
  asset: Hex,
  { from, to, step }: { readonly from: bigint; readonly to: bigint; readonly step: bigint },
): Promise<PriceStep[]> {
  const [start, end] = [sql`${String(from)}::numeric`, sql`${String(to)}::numeric`];
  const stepAt = (time: SQL) => sql`div(${time} - ${start}, ${String(step)}::numeric)`;
  const rows = await db.execute(sql`
    select max(updated_at)::text as updated_at, count(*)::integer as rounds,
      ((array_agg(answer order by updated_at desc, round_id desc))[1] * ${String(FEED_TO_PRICE)}::numeric)::text as price,
      (min(answer) * ${String(FEED_TO_PRICE)}::numeric)::text as lowest,
      (max(answer) * ${String(FEED_TO_PRICE)}::numeric)::text as highest
    from (
      (select * from (
        (select r.answer, r.updated_at, r.round_id, -1 as step from ${roundsOf(asset)} and r.updated_at < ${start}
          order by r.updated_at desc, r.round_id desc limit 1)
        union all
        (select b.answer, b.block_timestamp, b.round_id, -1 from ${beginsOf(asset)} and b.block_timestamp < ${start}
          order by b.phase desc limit 1)) earlier
        order by updated_at desc, round_id desc limit 1)
      union all
      select r.answer, r.updated_at, r.round_id, ${stepAt(sql`r.updated_at`)} from ${roundsOf(asset)}
        and r.updated_at >= ${start} and r.updated_at < ${end}
      union all
      select b.answer, b.block_timestamp, b.round_id, ${stepAt(sql`b.block_timestamp`)} from ${beginsOf(asset)}
        and b.block_timestamp >= ${start} and b.block_timestamp < ${end}) answers
    group by step order by step`);
  return z.array(stepRow).parse([...rows]);
}
