/** What the index knows of one policy's trigger. */

import { and, desc, eq, sql } from "drizzle-orm";
import { isBeforeTrigger, ofTrigger } from "../../lib/indexed/before-trigger.ts";
import { fallenRounds, isDue, lastPhase } from "../../lib/indexed/due.ts";
import { CONFIRMATIONS, MAX_PRICE_AGE } from "../../lib/price-rules.ts";
import {
  oracleFeed,
  oraclePhase,
  oracleRound,
  policy,
  policyTrigger,
  product,
  sequencerState,
  triggerSubmission,
} from "../../ponder.schema.ts";
import type { PolicyKey } from "../chain/contracts/policy.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { metAt, newestFallen } from "./fallen-rounds.ts";
import { type PolicyRow, windowOf } from "./window.ts";

/** The place of a round in the order of the rounds' times. */
export type RoundPlace = { readonly updatedAt: bigint; readonly roundId: bigint };

export type EvaluationQuery = PolicyKey & {
  readonly limit: number;
  readonly cursor?: RoundPlace | undefined;
};

/** postgres.js sends a bigint as an int8, which is too small. */
const numeric = (value: bigint) => sql`${String(value)}::numeric`;

/** The policy with its product's name, its feed, and the rounds that count. Uses the primary key. */
const findPolicy = (db: IndexQuery, { productId, policyId }: PolicyKey) =>
  db
    .select({
      policy,
      productName: product.name,
      feed: oracleFeed,
      lastPhase: lastPhase(),
      isDue: isDue(),
      fallen: newestFallen(),
      metAt: metAt(),
    })
    .from(policy)
    .leftJoin(product, eq(product.productId, policy.productId))
    .leftJoin(oracleFeed, eq(oracleFeed.asset, policy.asset))
    .where(and(eq(policy.productId, productId), eq(policy.policyId, numeric(policyId))));

/** Of a trigger's row: the rounds that could count before its log, by rising id, one more than a proof has at most. */
const earlierRounds = () => sql<string[] | null>`(
  select json_agg(n.round_id::text order by n.round_id) from (
    select r.round_id from ${fallenRounds()} and (r.block_number, r.log_index) < ${ofTrigger}
      and exists (select 1 from ${oraclePhase} b
        where b.asset = r.asset and b.phase >= r.phase and (b.block_number, b.log_index) < ${ofTrigger})
    limit ${sql.raw(String(CONFIRMATIONS + 1))}) n)`;

/** How the policy was triggered: its event, and the submission in the same transaction. Uses the indexes on the policy. */
const findTrigger = (db: IndexQuery, { productId, policyId }: PolicyKey) =>
  db
    .select({
      event: policyTrigger,
      submitter: triggerSubmission.submitter,
      earlierRounds: earlierRounds(),
    })
    .from(policyTrigger)
    .innerJoin(
      policy,
      and(
        eq(policy.productId, policyTrigger.productId),
        eq(policy.policyId, policyTrigger.policyId),
        isBeforeTrigger,
      ),
    )
    .leftJoin(
      triggerSubmission,
      and(
        eq(triggerSubmission.productId, policyTrigger.productId),
        eq(triggerSubmission.policyId, policyTrigger.policyId),
        eq(triggerSubmission.txHash, policyTrigger.txHash),
      ),
    )
    .where(and(eq(policyTrigger.productId, productId), eq(policyTrigger.policyId, numeric(policyId))))
    .limit(1);

export type TriggerRow = Awaited<ReturnType<typeof findTrigger>>[number];

/** Rounds are listed from so long before the purchase, and until so long after the window, in seconds. */
const MARGIN = BigInt(MAX_PRICE_AGE);

/**
 * A page of the feed's rounds, the newest first by their times, one row more than `limit`: from the hour before the purchase,
 * which has the round of the strike, to the hour after the window. Uses the index on asset and time.
 */
async function readRoundPage(db: IndexQuery, row: PolicyRow, { limit, cursor }: EvaluationQuery) {
  const window = windowOf(row);
  if (row.asset === null || window === null) return [];
  const { asset, updatedAt, roundId } = oracleRound;
  return db
    .select()
    .from(oracleRound)
    .where(
      and(
        eq(asset, row.asset),
        sql`${updatedAt} >= ${numeric(row.createdAt - MARGIN)}`,
        sql`${updatedAt} <= ${numeric(window.expiresAt + MARGIN)}`,
        cursor &&
          sql`(${updatedAt}, ${roundId}) < (${numeric(cursor.updatedAt)}, ${numeric(cursor.roundId)})`,
      ),
    )
    .orderBy(desc(asset), desc(updatedAt), desc(roundId))
    .limit(limit + 1);
}

export type RoundRow = typeof oracleRound.$inferSelect;
export type SequencerRow = typeof sequencerState.$inferSelect;

/**
 * Reads a policy with what decides about its trigger, and a page of rounds; undefined for an unknown policy.
 *
 * @param db in a transaction of one snapshot
 */
export async function readEvaluation(db: IndexQuery, query: EvaluationQuery) {
  const [[found], [trigger], [sequencer]] = await Promise.all([
    findPolicy(db, query),
    findTrigger(db, query),
    db.select().from(sequencerState),
  ]);
  if (!found) return undefined;
  const rounds = await readRoundPage(db, found.policy, query);
  return { ...found, trigger, sequencer, rounds };
}

export type Evaluation = NonNullable<Awaited<ReturnType<typeof readEvaluation>>>;
