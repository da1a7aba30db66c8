import type { ISql } from "postgres";
import { z } from "zod";

const state = z.object({ ready: z.boolean(), block: z.string().regex(/^\d+$/).transform(BigInt).nullable() });

/**
 * The block of a build's rows, null while there is none; and whether Ponder has finished its backfill. Ponder reads the blocks
 * before its start without a block event for each: their logs arrive, and the head stays behind them until the first live block.
 * From then on each commit has its head.
 */
export async function indexedBlock(sql: ISql, schema: string): Promise<z.output<typeof state>> {
  const own = sql(schema);
  const [row] = await sql`
    select coalesce((select value ->> 'is_ready' = '1' from ${own}._ponder_meta where key = 'app'), false) as ready,
      (select h.number::text from ${own}.head h where not exists (
        select from ${own}._ponder_checkpoint c
        where c.chain_id = h.chain_id and substr(c.latest_checkpoint, 27, 16)::numeric > h.number)) as block`;
  return state.parse(row);
}
