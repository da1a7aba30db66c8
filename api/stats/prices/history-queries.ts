/** Reads the prices of a covered asset over time. */
import { sql } from "drizzle-orm";
import type { Hex } from "viem";
import { z } from "zod";
import { FEED_TO_PRICE } from "../../../lib/price-rules.ts";
import { oracleFeed, oracleRound } from "../../../ponder.schema.ts";
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
/** The rounds of a step: time and price of the newest, the lowest and the highest price (18 decimals), and their number. */
export type PriceStep = z.output<typeof stepRow>;

/** The rounds `r` of an asset from which its feed has answered, for a `from`. */
const roundsOf = (asset: Hex) => sql`
  ${oracleRound} r join ${oracleFeed} f on f.asset = r.asset and r.phase <= f.phase
  where r.asset = ${asset} and r.answer > 0`;

/**
 * Reads an asset's prices from `from` (Unix seconds, included) to `to` (excluded), the oldest first, one row for each step that has rounds,
 * and before them the newest round before `from`: its price held at `from`. Uses the index on asset and time.
 */
export async function readPriceSteps(
  db: IndexQuery,
  asset: Hex,
  { from, to, step }: { readonly from: bigint; readonly to: bigint; readonly step: bigint },
): Promise<PriceStep[]> {
  const rows = await db.execute(sql`
    select max(updated_at)::text as updated_at, count(*)::integer as rounds,
      ((array_agg(answer order by updated_at desc, round_id desc))[1] * ${String(FEED_TO_PRICE)}::numeric)::text as price,
      (min(answer) * ${String(FEED_TO_PRICE)}::numeric)::text as lowest,
      (max(answer) * ${String(FEED_TO_PRICE)}::numeric)::text as highest
    from (
      (select r.answer, r.updated_at, r.round_id, -1 as step from ${roundsOf(asset)}
        and r.updated_at < ${String(from)}::numeric order by r.updated_at desc, r.round_id desc limit 1)
      union all
      select r.answer, r.updated_at, r.round_id, div(r.updated_at - ${String(from)}::numeric, ${String(step)}::numeric)
      from ${roundsOf(asset)}
        and r.updated_at >= ${String(from)}::numeric and r.updated_at < ${String(to)}::numeric) rounds
    group by step order by step`);
  return z.array(stepRow).parse([...rows]);
}
