/** Which policies can be observed in the block after the head, so that the third observation pays. By the rows alone, at every block. */
import { and, asc, eq, getTableColumns, gt, gte, lte, or, type SQL, sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Address, Hex } from "viem";
import { head, oracleFeed, policy, sequencerState } from "../../ponder.schema.ts";
import {
  DWELL,
  FEED_TO_PRICE,
  MAX_PRICE_AGE,
  OBSERVATION_INTERVAL,
  OBSERVATIONS,
  SEQUENCER_GRACE,
} from "../price-rules.ts";
import { isOpen } from "./policy-status.ts";

const PRICE_SCALE = sql.raw(String(FEED_TO_PRICE));

const seconds = (count: number): SQL => sql.raw(String(count));

/** The time of the head's block; null while nothing can be observed: the sequencer is down, or came back less than an hour ago. */
const observableTime = (): SQL => sql`(
  select h.timestamp from ${head} h, ${sequencerState} s
  where s.up and h.timestamp - s.started_at > ${seconds(SEQUENCER_GRACE)})`;

/** Whether a row of `policy` can be observed at the time `now`, with its feed's newest round `f`. */
const isObservable = (now: SQL): SQL => sql`
  ${isOpen(policy, now)} and ${policy.markedExpiredAt} is null
  and ${policy.createdAt} <= ${now} - ${seconds(DWELL)}
  and exists (
    select from ${oracleFeed} f where f.asset = ${policy.asset}
      and f.answer > 0 and f.answer <= div(${policy.triggerPrice}, ${PRICE_SCALE})
      and f.updated_at <= ${now} and f.updated_at >= ${now} - ${seconds(MAX_PRICE_AGE)}
      and (${policy.observations} = 0
        or f.updated_at > ${policy.observedRound} and ${policy.observedAt} <= ${now} - ${seconds(OBSERVATION_INTERVAL)}))`;

/** Whether a row of `policy` is due in the head's block. Cheap for a closed policy, and above its trigger price. */
export const isDue = (): SQL<boolean> => sql<boolean>`coalesce(${isObservable(observableTime())}, false)`;

/** Of a row of `policy`: the last second (Unix) in which the next observation leaves time for those after it. */
export const lastMoment = (): SQL<bigint> =>
  sql`(${policy.expiresAt} - ${seconds(OBSERVATION_INTERVAL)} * (${seconds(OBSERVATIONS - 1)} - ${policy.observations}))`.mapWith(
    policy.expiresAt,
  );

type Query = Pick<PostgresJsDatabase, "select">;

/** The order of due policies: those whose last moment comes first at the front. */
export const byLastMoment = (): readonly SQL[] => [
  asc(lastMoment()),
  asc(policy.productId),
  asc(policy.policyId),
];

/** True for a policy at or above whose trigger price its feed's newest round is not, and that round is young; undefined without one. */
async function hasFallen(db: Query, now: SQL): Promise<SQL | undefined> {
  const prices = await db
    .select({ asset: oracleFeed.asset, price: sql<string>`(${oracleFeed.answer} * ${PRICE_SCALE})::text` })
    .from(oracleFeed)
    .where(
      and(gt(oracleFeed.answer, 0n), gte(oracleFeed.updatedAt, sql`${now} - ${seconds(MAX_PRICE_AGE)}`)),
    );
  const reached = prices.map(({ asset, price }) =>
    and(eq(policy.asset, asset), gte(policy.triggerPrice, sql`${price}::numeric`)),
  );
  return reached.length === 0 ? undefined : or(...reached);
}

/**
 * Reads the head's block, and makes the condition of the policies that are due there; `isDue` is undefined where none can be.
 * Undefined while the index has no complete block.
 *
 * @param db in a transaction of one snapshot: with the time as a value, and not as a part of one statement, Postgres knows
 *   how few policies are open.
 */
export async function findDueRows(
  db: Query,
): Promise<{ head: typeof head.$inferSelect; isDue: SQL | undefined } | undefined> {
  const [found] = await db
    .select({ ...getTableColumns(head), canObserve: sql<boolean>`${observableTime()} is not null` })
    .from(head);
  if (found === undefined) return undefined;
  const { canObserve, ...block } = found;
  if (!canObserve) return { head: block, isDue: undefined };
  const now = sql`${String(block.timestamp)}::numeric`;
  // As a value for each asset: a subquery would be run again for each open policy.
  const fallen = await hasFallen(db, now);
  if (fallen === undefined) return { head: block, isDue: undefined };
  const bought = lte(policy.createdAt, sql`${now} - ${seconds(DWELL)}`);
  return { head: block, isDue: and(gte(policy.expiresAt, now), bought, fallen, isObservable(now)) };
}

/** A policy that can be observed; `observation`: which one it would be, from 1; the third pays. Times are Unix seconds. */
export type DuePolicy = {
  readonly productId: Hex;
  readonly policyId: bigint;
  /** The adapter, lower case; null for a product that the index does not know. */
  readonly shield: Address | null;
  readonly buyer: Address;
  readonly expiresAt: bigint;
  readonly observation: number;
  /** The last second in which this observation leaves time for those after it. */
  readonly lastMoment: bigint;
  /** The block of the last observation or reset; null before the first. */
  readonly changedIn: bigint | null;
};

/**
 * Reads all due policies, third observations first, then by the last moment, and the head's block that they belong to. Undefined while
 * the index has no complete block. Reads the open policies only, by the index on their expiry.
 *
 * @param db as for {@link findDueRows}
 */
export async function readDue(
  db: Query,
): Promise<{ head: typeof head.$inferSelect; policies: DuePolicy[] } | undefined> {
  const found = await findDueRows(db);
  if (found?.isDue === undefined) return found && { head: found.head, policies: [] };
  const policies = await db
    .select({
      productId: policy.productId,
      policyId: policy.policyId,
      shield: policy.shield,
      buyer: policy.buyer,
      // A due policy has one: it is part of the condition.
      expiresAt: sql<bigint>`${policy.expiresAt}`.mapWith(policy.expiresAt),
      observation: sql<number>`${policy.observations} + 1`,
      lastMoment: lastMoment(),
      changedIn: policy.observedIn,
    })
    .from(policy)
    .where(found.isDue)
    .orderBy(sql`${policy.observations} < ${seconds(OBSERVATIONS - 1)}`, ...byLastMoment());
  return { head: found.head, policies };
}
