/** The keeper's record of its own work: when it was there, and how soon possible observations were made. */

import { sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Sql } from "postgres";
import { z } from "zod";
import { inSnapshot } from "../../lib/db/snapshot.ts";
import { noneWithoutIndex } from "../../lib/indexed/errors.ts";
import { DWELL, FEED_TO_PRICE, OBSERVATION_INTERVAL, SEQUENCER_GRACE } from "../../lib/price-rules.ts";
import { head, oracleRound, policy, policyObservation, sequencerState } from "../../ponder.schema.ts";
import { greater } from "../common/bigints.ts";
import type { KeeperContext } from "./context.ts";

/** After this time without a look, or between the blocks of two looks, the keeper was away, in seconds. */
const AWAY_AFTER = 60;

/**
 * Notes that a keeper was at work up to a block of this time (Unix seconds). A keeper whose index stood still was away too, however
 * often it looked.
 */
export async function noteWatch(sql: Sql, chainId: number, time: bigint): Promise<void> {
  await sql`
    with newest as (
      select since from service.keeper_watch where chain_id = ${chainId} order by since desc limit 1 for update
    ), extended as (
      update service.keeper_watch k set until = greatest(until, ${String(time)}::numeric), seen_at = now() from newest
      where k.chain_id = ${chainId} and k.since = newest.since and k.seen_at > now() - make_interval(secs => ${AWAY_AFTER})
        and k.until >= ${String(time)}::numeric - ${AWAY_AFTER}
      returning 1
    )
    insert into service.keeper_watch (chain_id, since, until)
    select ${chainId}, ${String(time)}::numeric, ${String(time)}::numeric where not exists (select from extended)
    on conflict (chain_id, since) do update set seen_at = now()`;
}

/** How often the keeper notes that it is there, in ms. */
const WATCH_MS = 5000;

/** Notes that the keeper is at work, and measures what was observed since the last time. `time`: that of the head, in Unix seconds. */
export async function watch(context: KeeperContext, time: bigint): Promise<void> {
  const { sql, chainId, index, meter } = context;
  if (performance.now() - context.watchedAt < WATCH_MS) return;
  await noteWatch(sql, chainId, time);
  context.watchedAt = performance.now();
  const since = context.measuredTo;
  // A read that fails is not repeated: one that takes too long would delay the triggers of each round.
  context.measuredTo = undefined;
  const found = await readDueToMined(index, since).catch(noneWithoutIndex);
  for (const seconds of found?.seconds ?? []) meter.dueToMined(seconds);
  // After a reorganisation the head may be lower: what is mined again is not counted again.
  const until = found?.until ?? since;
  context.measuredTo = until === undefined || since === undefined ? until : greater(until, since);
}

export type DueToMined = {
  /** Seconds from possible to mined, one for each observation. */
  readonly seconds: readonly number[];
  /** The block of the index up to which observations were read. */
  readonly until: bigint;
};

const measured = z.array(z.object({ seconds: z.number() }));

const number = (value: number | bigint) => sql.raw(String(value));

/**
 * Reads how long each observation after block `since` had been possible, whoever made it, by the times of the blocks; none without
 * `since`. A first one is possible from the first round of the fall, a further one from the first newer round, and a minute after
 * the one before; none within five minutes of the purchase, or an hour after an outage of the sequencer. Undefined while the index
 * has no complete block.
 *
 * Rejects while there is no index.
 */
export const readDueToMined = (
  index: PostgresJsDatabase,
  since: bigint | undefined,
): Promise<DueToMined | undefined> =>
  inSnapshot(index, async (tx) => {
    const [now] = await tx.select({ until: head.number }).from(head);
    if (!now || since === undefined) return now && { ...now, seconds: [] };
    const rows = await tx.execute(sql`
      select greatest(0, o.block_timestamp - greatest(p.created_at + ${number(DWELL)}, b.block_timestamp + b.pause,
        low.block_timestamp, up.since))::float8 as seconds
      from ${policyObservation} o
      -- A key that came again is the newer policy's.
      join ${policy} p on p.product_id = o.product_id and p.policy_id = o.policy_id
        and (p.block_number, p.log_index) < (o.block_number, o.log_index)
      -- The observation before it in a row; for the first one, the last round above the barrier.
      cross join lateral (
        (select v.block_number, v.log_index, v.block_timestamp, ${number(OBSERVATION_INTERVAL)} as pause from ${policyObservation} v
          where o.count > 1 and v.product_id = o.product_id and v.policy_id = o.policy_id
            and (v.block_number, v.log_index) < (o.block_number, o.log_index)
          order by v.block_number desc, v.log_index desc limit 1)
        union all
        (select r.block_number, r.log_index, r.block_timestamp, 0 from ${oracleRound} r
          where o.count = 1 and r.asset = p.asset and r.answer > div(p.trigger_price, ${number(FEED_TO_PRICE)})
            and (r.block_number, r.log_index) < (o.block_number, o.log_index)
          order by r.block_number desc, r.log_index desc limit 1)) b
      left join lateral (
        select r.block_timestamp from ${oracleRound} r
        where r.asset = p.asset and r.answer between 1 and div(p.trigger_price, ${number(FEED_TO_PRICE)})
          and (r.block_number, r.log_index) > (b.block_number, b.log_index)
        order by r.block_number, r.log_index limit 1) low on true
      left join lateral (
        select s.started_at + ${number(SEQUENCER_GRACE)} as since from ${sequencerState} s
        where s.started_at + ${number(SEQUENCER_GRACE)} <= o.block_timestamp) up on true
      where o.block_number > ${String(since)}::numeric and o.count > 0`);
    return { ...now, seconds: measured.parse([...rows]).map(({ seconds }) => seconds) };
  });
