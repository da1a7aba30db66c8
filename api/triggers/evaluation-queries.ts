/** What the index knows of one policy's trigger. */

import { and, desc, eq, getTableColumns, sql } from "drizzle-orm";
import { isBeforeTrigger } from "../../lib/indexed/before-trigger.ts";
import { isDue } from "../../lib/indexed/due.ts";
import { MAX_PRICE_AGE } from "../../lib/price-rules.ts";
import {
  oracleFeed,
  oraclePhase,
  oracleRound,
  policy,
  policyObservation,
  policyTrigger,
  product,
  sequencerState,
} from "../../ponder.schema.ts";
import type { PolicyKey } from "../chain/contracts/policy.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { type PolicyRow, windowOf } from "./window.ts";

/** The place of a round in the order of the rounds' times. */
export type RoundPlace = { readonly updatedAt: bigint; readonly roundId: bigint };

export type EvaluationQuery = PolicyKey & {
  readonly limit: number;
  readonly cursor?: RoundPlace | undefined;
};

/** postgres.js sends a bigint as an int8, which is too small. */
const numeric = (value: bigint) => sql`${String(value)}::numeric`;

/** Of a row of `policy`: the last phase that its feed had begun by the end of the cover, or by now if that is earlier. */
const lastPhase = () => sql<number | null>`(
  select max(b.phase) from ${oraclePhase} b
  where b.asset = ${policy.asset} and b.block_timestamp <= ${policy.expiresAt})`;

/** The policy with its product's name and its feed. Uses the primary key. */
const findPolicy = (db: IndexQuery, { productId, policyId }: PolicyKey) =>
  db
    .select({
      policy,
      productName: product.name,
      feed: oracleFeed,
      lastPhase: lastPhase(),
      isDue: isDue(),
    })
    .from(policy)
    .leftJoin(product, eq(product.productId, policy.productId))
    .leftJoin(oracleFeed, eq(oracleFeed.asset, policy.asset))
    .where(and(eq(policy.productId, productId), eq(policy.policyId, numeric(policyId))));

/** How the policy was triggered. Uses the indexes on the policy. */
const findTrigger = (db: IndexQuery, { productId, policyId }: PolicyKey) =>
  db
    .select({ event: policyTrigger, submitter: policyTrigger.submitter })
    .from(policyTrigger)
    .innerJoin(
      policy,
      and(
        eq(policy.productId, policyTrigger.productId),
        eq(policy.policyId, policyTrigger.policyId),
        isBeforeTrigger,
      ),
    )
    .where(and(eq(policyTrigger.productId, productId), eq(policyTrigger.policyId, numeric(policyId))))
    .limit(1);

/** Most observations that are listed: a cover of 48 hours has three that pay, and further ones only after resets. */
const OBSERVATIONS_LISTED = 50;

/** The newest observations and resets of a policy, the newest first. Uses the index on the policy. */
const readObservations = (db: IndexQuery, { productId, policyId }: PolicyKey) =>
  db
    .select(getTableColumns(policyObservation))
    .from(policyObservation)
    .innerJoin(
      policy,
      and(
        eq(policy.productId, policyObservation.productId),
        eq(policy.policyId, policyObservation.policyId),
        // A key that came again has those of an older policy too.
        sql`(${policyObservation.blockNumber}, ${policyObservation.logIndex}) > (${policy.blockNumber}, ${policy.logIndex})`,
      ),
    )
    .where(and(eq(policyObservation.productId, productId), eq(policyObservation.policyId, numeric(policyId))))
    .orderBy(desc(policyObservation.blockNumber), desc(policyObservation.logIndex))
    .limit(OBSERVATIONS_LISTED);

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
  const [[found], [trigger], [sequencer], observations] = await Promise.all([
    findPolicy(db, query),
    findTrigger(db, query),
    db.select().from(sequencerState),
    readObservations(db, query),
  ]);
  if (!found) return undefined;
  const rounds = await readRoundPage(db, found.policy, query);
  return { ...found, trigger, sequencer, observations, rounds };
}

export type Evaluation = NonNullable<Awaited<ReturnType<typeof readEvaluation>>>;
