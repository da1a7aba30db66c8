/** The indexed head: every read of the index includes it. */
import { type SQL, sql } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/pg-core";
import { head } from "../../ponder.schema.ts";

/** In Ponder's checkpoint strings the block number follows the timestamp (10 digits) and the chain id (16). */
export const checkpointBlock = (checkpoint: SQL) => sql`substr(${checkpoint}, 27, 16)::numeric`;

/**
 * True of the head's row when no other row is of a later block. After a restart Ponder reads the blocks that it has missed
 * without a block event for each: logs arrive, and the head stays behind them until the first live block.
 */
export function isWhole(): SQL {
  const views = sql.identifier(getTableConfig(head).schema ?? "public");
  return sql`not exists (
    select 1 from ${views}."_ponder_checkpoint" c
    where c.chain_id = ${head.chainId} and ${checkpointBlock(sql`c.latest_checkpoint`)} > ${head.number})`;
}
