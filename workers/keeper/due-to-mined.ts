/** How long possible observations waited until they were mined, from the index. */
import { sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { z } from "zod";
import { inSnapshot } from "../../lib/db/snapshot.ts";
import { DWELL, FEED_TO_PRICE, OBSERVATION_INTERVAL, SEQUENCER_GRACE } from "../../lib/price-rules.ts";
import { head, oracleRound, policy, policyObservation, sequencerState } from "../../ponder.schema.ts";

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
