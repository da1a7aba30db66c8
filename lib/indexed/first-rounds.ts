/** With which rounds of its feed a policy becomes due. */
import { type SQL, sql } from "drizzle-orm";
import { oraclePhase } from "../../ponder.schema.ts";
import { CONFIRMATIONS } from "../price-rules.ts";
import { fallenRounds } from "./due.ts";

const positionColumns = sql.raw("block_number, log_index, block_hash, block_timestamp, tx_hash");
const position = (table: string) =>
  sql.raw(
    `${table}.block_number, ${table}.log_index, ${table}.block_hash, ${table}.block_timestamp, ${table}.tx_hash`,
  );

/**
 * Of a row of `policy`: its first rounds at or below the trigger price, each with the log from which it counts, which is the
 * last of the round's, of the one that began its phase, and of the purchase.
 *
 * @param more a further condition for the rounds `r`, which begins with `and`
 */
export const firstRounds = (more: SQL = sql``): SQL => sql`
  select r.round_id, r.answer, counts.*
  from (select r.* from ${fallenRounds()} ${more}) r
  cross join lateral (
    select ${position("r")}
    union all select ${position("policy")}
    union all (
      select ${position("b")} from ${oraclePhase} b where b.asset = r.asset and b.phase >= r.phase order by b.phase limit 1)
    order by block_number desc, log_index desc limit 1) counts (${positionColumns})
  order by counts.block_number, counts.log_index, r.round_id limit ${sql.raw(String(CONFIRMATIONS))}`;
