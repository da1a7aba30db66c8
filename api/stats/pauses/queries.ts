import { sql } from "drizzle-orm";
import { isHex } from "viem";
import { z } from "zod";
import { pauseEvent, sequencerEvent, sequencerState } from "../../../ponder.schema.ts";
import type { FeedPage, Period } from "../../http/paging.ts";
import type { IndexQuery } from "../../indexed/reader.ts";
import { after } from "../../indexed/walk.ts";

export const pauseScopes = ["router", "auto", "global"] as const;
/** The list also has outages of the chain's sequencer, which stop sales and triggers. */
export const stopScopes = [...pauseScopes, "sequencer"] as const;

const integerText = z.string().transform(BigInt);
const hex = z.custom<`0x${string}`>((text) => isHex(text));

const pause = z.object({
  scope: z.enum(stopScopes),
  blockNumber: integerText,
  logIndex: z.int(),
  blockTimestamp: integerText,
  txHash: hex,
  /** The account that began and ended a global pause. */
  by: hex.nullable(),
  endedBy: hex.nullable(),
  /** The token's prices that began and ended an automatic pause, 18 decimals. */
  price: integerText.nullable(),
  endPrice: integerText.nullable(),
  endedAt: integerText.nullable(),
  endTxHash: hex.nullable(),
});

/** The events that begin or end a pause or an outage. The times of an outage are those that the sequencer's feed reports. */
const events = sql`
  select scope, paused, by, price, block_timestamp, block_number, log_index, tx_hash from ${pauseEvent}
  union all
  select 'sequencer', not up, null, null, started_at, block_number, log_index, tx_hash from ${sequencerEvent}`;

/**
 * The pauses and their ends; events that repeat the state of their scope are left out. It reads all of these events: only the
 * contracts' owners, a token price that crosses its limit, and outages of the chain cause any.
 */
const changes = sql`
  select * from (
    select *, lag(paused) over (partition by scope order by block_number, log_index) as before from (${events}) events) events
  where paused <> coalesce(before, false)`;

/** Pauses that began within the period, the newest first, one row more than `limit`. */
export async function readPauses(db: IndexQuery, { limit, offset, cursor, from, to }: FeedPage & Period) {
  const { blockNumber, logIndex } = after(cursor);
  const rows = await db.execute(sql`
    select scope, block_number::text as "blockNumber", log_index as "logIndex",
      block_timestamp::text as "blockTimestamp", tx_hash as "txHash", by, ended_by as "endedBy",
      price::text as price, end_price::text as "endPrice", ended_at::text as "endedAt", end_tx_hash as "endTxHash"
    from (
      select *, lead(block_timestamp) over later as ended_at, lead(tx_hash) over later as end_tx_hash,
        lead(by) over later as ended_by, lead(price) over later as end_price
      from (${changes}) changes window later as (partition by scope order by block_number, log_index)) pauses
    where paused and (block_number, log_index) < (${blockNumber}, ${logIndex})
      and block_timestamp >= ${String(from ?? 0)}
      and block_timestamp < ${to === undefined ? sql`'Infinity'::numeric` : String(to)}
    order by block_number desc, log_index desc limit ${limit + 1} offset ${offset}`);
  return z.array(pause).parse(rows);
}

const state = z.object({ scope: z.enum(stopScopes), paused: z.boolean(), since: integerText });

/** The newest change of each scope; a scope without any has never been paused. */
export async function readPauseStates(db: IndexQuery) {
  const rows = await db.execute(sql`
    select distinct on (scope) scope, paused, block_timestamp::text as since
    from (${changes}) changes order by scope, block_number desc, log_index desc`);
  return z.array(state).parse(rows);
}

/** The sequencer's status; undefined while unknown. */
export async function readSequencer(db: IndexQuery) {
  const [row] = await db.select().from(sequencerState);
  return row;
}
