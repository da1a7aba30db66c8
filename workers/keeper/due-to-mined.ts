/** How long due policies waited for their trigger, from the index. */
import { sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { z } from "zod";
import { inSnapshot } from "../../lib/db/snapshot.ts";
import { fallenRounds } from "../../lib/indexed/due.ts";
import { firstRounds } from "../../lib/indexed/first-rounds.ts";
import { CONFIRMATIONS, MAX_PRICE_AGE, SEQUENCER_GRACE } from "../../lib/price-rules.ts";
import { head, policy, policyTrigger, sequencerState } from "../../ponder.schema.ts";

export type DueToMined = {
  /** Seconds from due to mined, one for each triggered policy. */
  readonly seconds: readonly number[];
  /** The block of the index up to which triggers were read. */
  readonly until: bigint;
};

const measured = z.array(z.object({ seconds: z.number() }));

const seconds = (count: number) => sql.raw(String(count));

/** Since when the sequencer did not prevent the trigger, Unix seconds; null if it never did. */
const resumedAt = sql`(
  select s.started_at + ${seconds(SEQUENCER_GRACE)} from ${sequencerState} s
  where s.started_at + ${seconds(SEQUENCER_GRACE)} <= ${policyTrigger.blockTimestamp})`;

/**
 * Reads how long each policy that was triggered after block `since` had been due, whoever triggered it, by the times of the blocks;
 * none without `since`. A policy is due from the log that completes its three rounds, or from an hour after a later outage of
 * the sequencer; if no fallen round is young enough by then, from the next one. One without rounds that the
 * index knows is left out. Undefined while the index has no complete block.
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
    // Lateral, so that Postgres looks each policy up by its key, also without statistics.
    const rows = await tx.execute(sql`
      select due.seconds from ${policyTrigger} cross join lateral (
        select greatest(0, ${policyTrigger.blockTimestamp} - min(greatest(r.block_timestamp, possible.since)))::float8 as seconds
        from ${policy} cross join lateral (
          select greatest(max(n.block_timestamp), ${resumedAt}) as since from (${firstRounds()}) n
          having count(*) = ${seconds(CONFIRMATIONS)}) possible
        cross join lateral (select r.block_timestamp, r.updated_at from ${fallenRounds()}) r
        where r.updated_at >= possible.since - ${seconds(MAX_PRICE_AGE)} and ${policy.productId} = ${policyTrigger.productId} and ${policy.policyId} = ${policyTrigger.policyId}
          -- A key that came again is the newer policy's.
          and (${policy.blockNumber}, ${policy.logIndex}) < (${policyTrigger.blockNumber}, ${policyTrigger.logIndex})
        having count(*) > 0) due
      where ${policyTrigger.blockNumber} > ${String(since)}::numeric`);
    return { ...now, seconds: measured.parse([...rows]).map(({ seconds }) => seconds) };
  });
