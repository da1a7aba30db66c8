/** Which policies `submitTrigger` would pay in the head's block, and with which proof. By the rows alone, at every block. */
import { and, asc, eq, getTableColumns, gt, gte, isNotNull, or, type SQL, sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Address, Hex } from "viem";
import { head, oracleFeed, oraclePhase, oracleRound, policy, sequencerState } from "../../ponder.schema.ts";
import {
  CONFIRMATIONS,
  FEED_TO_PRICE,
  MAX_PRICE_AGE,
  MINIMUM_PAYOUT,
  SEQUENCER_GRACE,
} from "../price-rules.ts";
import { isOpen } from "./policy-status.ts";

const PRICE_SCALE = sql.raw(String(FEED_TO_PRICE));

const seconds = (count: number): SQL => sql.raw(String(count));

/** The time of the head's block; null without the sequencer, while nothing can be triggered. A pause stops purchases only. */
const triggerTime = (): SQL => sql`(
  select h.timestamp from ${head} h, ${sequencerState} s
  where s.up and s.started_at > 0 and h.timestamp > s.started_at + ${seconds(SEQUENCER_GRACE)})`;

/** Of a row of `policy`: the last phase that its feed had begun by the end of the cover, or by now if that is earlier. */
export const lastPhase = (): SQL<number | null> => sql<number | null>`(
  select max(b.phase) from ${oraclePhase} b
  where b.asset = ${policy.asset} and b.block_timestamp <= ${policy.expiresAt})`;

/**
 * A policy's rounds `r` at or below its trigger price, in its window, for a `from`. A later phase counts once the feed answers
 * from it, if that is before the cover's end.
 */
export const fallenRounds = (): SQL => sql`
  ${oracleRound} r
  where r.asset = ${policy.asset} and r.phase <= ${lastPhase()}
    and r.answer > 0 and r.answer <= div(${policy.triggerPrice}, ${PRICE_SCALE})
    and r.updated_at > 0 and r.updated_at >= ${policy.createdAt}
    and r.updated_at <= ${policy.expiresAt}`;

/** The newest of them, three at most. Of rounds of one time the later ones: at each read the same. */
export const newestFallenRounds = (): SQL =>
  sql`${fallenRounds()} order by r.updated_at desc, r.round_id desc limit ${sql.raw(String(CONFIRMATIONS))}`;

/**
 * Of a row of `policy`: the proof with which `submitTrigger` would pay it at the time `now`, three round ids in rising order;
 * null when it would revert, or when the index does not know enough. The proof has the policy's newest rounds, because the
 * age of the newest one decides. The index cannot know whether a contract that bought a policy refuses its bonds.
 */
const dueProof = (now: SQL): SQL<string[] | null> => sql<string[] | null>`
  case when ${isOpen(policy, now)} and ${policy.markedExpiredAt} is null
    and ${policy.payout} >= ${sql.raw(String(MINIMUM_PAYOUT))}
    and exists (select 1 from ${fallenRounds()} and r.updated_at >= ${now} - ${seconds(MAX_PRICE_AGE)})
  then (
    select case when count(*) = ${sql.raw(String(CONFIRMATIONS))} then json_agg(n.round_id::text order by n.round_id) end
    from (select r.round_id from ${newestFallenRounds()}) n)
  end`;

/** Whether a row of `policy` is due in the head's block. Cheap for a closed policy, and above its trigger price. */
export const isDue = (): SQL<boolean> => sql<boolean>`(${dueProof(triggerTime())}) is not null`;

type Query = Pick<PostgresJsDatabase, "select">;

/** True for a policy if a round of the last hour before `now` is at or below its trigger price; undefined without rounds. */
async function hasFallenLately(db: Query, now: SQL): Promise<SQL | undefined> {
  const lowest = sql<string>`(min(${oracleRound.answer}) * ${PRICE_SCALE})::text`;
  const prices = await db
    .select({ asset: oracleRound.asset, lowest })
    .from(oracleRound)
    .where(
      and(gt(oracleRound.answer, 0n), gte(oracleRound.updatedAt, sql`${now} - ${seconds(MAX_PRICE_AGE)}`)),
    )
    .groupBy(oracleRound.asset);
  const reached = prices.map((price) =>
    and(eq(policy.asset, price.asset), gte(policy.triggerPrice, sql`${price.lowest}::numeric`)),
  );
  return reached.length === 0 ? undefined : or(...reached);
}

/** For a query of `policy`: the condition of the due policies, and the proof of each, as in {@link dueProof}. */
export type DueRows = { readonly isDue: SQL | undefined; readonly proof: SQL<string[] | null> };

/** The order of due policies: those that expire first at the front. */
export const byDeadline: readonly SQL[] = [
  asc(policy.expiresAt),
  asc(policy.productId),
  asc(policy.policyId),
];

/**
 * Reads the head's block, and makes the condition of the policies that are due there; `rows` is undefined where none can be.
 * Undefined while the index has no complete block.
 *
 * @param db in a transaction of one snapshot: with the time as a value, and not as a part of one statement, Postgres knows
 *   how few policies are open.
 */
export async function findDueRows(
  db: Query,
): Promise<{ head: typeof head.$inferSelect; rows: DueRows | undefined } | undefined> {
  const [found] = await db
    .select({ ...getTableColumns(head), canTrigger: sql<boolean>`${triggerTime()} is not null` })
    .from(head);
  if (found === undefined) return undefined;
  const { canTrigger, ...block } = found;
  if (!canTrigger) return { head: block, rows: undefined };
  const now = sql`${String(block.timestamp)}::numeric`;
  // As a value for each asset: a subquery would be run again for each open policy.
  const fallen = await hasFallenLately(db, now);
  if (fallen === undefined) return { head: block, rows: undefined };
  const proof = dueProof(now);
  return { head: block, rows: { isDue: and(gte(policy.expiresAt, now), fallen, isNotNull(proof)), proof } };
}

/** A policy that `submitTrigger` would pay now. */
export type DuePolicy = {
  readonly productId: Hex;
  readonly policyId: bigint;
  /** Who receives the bond. */
  readonly buyer: Address;
  /** The last second (Unix) in which it can be triggered. */
  readonly expiresAt: bigint | null;
  /** The proof: ids of three rounds of the asset's feed, rising. */
  readonly rounds: readonly bigint[];
};

/**
 * Reads all due policies, those that expire first at the front, and the head's block that they belong to. Undefined while
 * the index has no complete block. Reads the open policies only, by the index on their expiry.
 *
 * @param db as for {@link findDueRows}
 */
export async function readDue(
  db: Query,
): Promise<{ head: typeof head.$inferSelect; policies: DuePolicy[] } | undefined> {
  const found = await findDueRows(db);
  if (found?.rows === undefined) return found && { head: found.head, policies: [] };
  const { isDue, proof } = found.rows;
  const rows = await db
    .select({
      productId: policy.productId,
      policyId: policy.policyId,
      buyer: policy.buyer,
      expiresAt: policy.expiresAt,
      rounds: proof,
    })
    .from(policy)
    .where(isDue)
    .orderBy(...byDeadline);
  const policies = rows.map(({ rounds, ...key }) => ({ ...key, rounds: (rounds ?? []).map(BigInt) }));
  return { head: found.head, policies };
}

/** What the index knows for a policy's proof: the newest round of its asset's feed, and the policy's newest fallen rounds. */
export type IndexedRounds = { readonly newest: bigint; readonly fallen: readonly bigint[] };

/**
 * Reads the ids of a policy's newest rounds at or below its trigger price in its window, three at most, whether or not it is
 * due. Undefined for an unknown policy, and while the feed's rounds are unknown. Uses the policy's primary key.
 */
export async function readFallenRounds(
  db: Query,
  { productId, policyId }: Pick<DuePolicy, "productId" | "policyId">,
): Promise<IndexedRounds | undefined> {
  const [row] = await db
    .select({
      newest: oracleFeed.roundId,
      fallen: sql<string[] | null>`(
        select json_agg(n.round_id::text) from (
          select r.round_id from ${newestFallenRounds()}) n)`,
    })
    .from(policy)
    .innerJoin(oracleFeed, eq(oracleFeed.asset, policy.asset))
    .where(and(eq(policy.productId, productId), eq(policy.policyId, sql`${String(policyId)}`)));
  if (!row || row.newest === null) return undefined;
  return { newest: row.newest, fallen: (row.fallen ?? []).map(BigInt) };
}
