/** Reads the open policies, grouped. */
import { sql } from "drizzle-orm";
import { isHex } from "viem";
import { z } from "zod";
import { isOpen } from "../../../lib/indexed/policy-status.ts";
import { policy } from "../../../ponder.schema.ts";
import type { IndexQuery } from "../../indexed/reader.ts";

/** Ends of the ranges of the time until expiry, in seconds; a last range has no end. */
export const EXPIRY_ENDS = [3_600, 21_600, 86_400, 172_800, 604_800] as const;

const hex = z.custom<`0x${string}`>((text) => isHex(text));
const openRow = z.object({
  product_id: hex,
  asset: hex.nullable(),
  /** Index in {@link EXPIRY_ENDS}, or their number. */
  range: z.int(),
  policies: z.int(),
  coverage: z.string().transform(BigInt),
  payout: z.string().transform(BigInt),
});
export type OpenPolicies = z.output<typeof openRow>;

/**
 * Sums the policies that are open at `now` (Unix seconds), by product, asset and time until expiry. Reads each open
 * policy, by the index on the expiry, and no other: their number does not grow with history.
 */
export async function readOpenCover(db: IndexQuery, now: bigint): Promise<OpenPolicies[]> {
  const ends = sql.raw(`array[${EXPIRY_ENDS.map((end) => end + 1).join(", ")}]::numeric[]`);
  const rows = await db.execute(sql`
    select product_id, asset,
      width_bucket(expires_at - ${String(now)}::numeric, ${ends}) as range,
      count(*)::integer as policies, sum(coverage)::text as coverage, sum(payout)::text as payout
    from ${policy} where ${isOpen(policy, now)} group by 1, 2, 3`);
  return z.array(openRow).parse([...rows]);
}
