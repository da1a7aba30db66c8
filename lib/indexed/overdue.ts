/** What waits to be closed: policies whose cover has ended, and the redemption queue. By the rows alone. */
import { and, asc, eq, gte, isNull, lt, sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Hex } from "viem";
import { policy, redemptionQueue } from "../../ponder.schema.ts";
import { QUEUE_IDS_PER_WEEK, weekOf } from "../vault-units.ts";
import { hasStatus } from "./policy-status.ts";

type Query = Pick<PostgresJsDatabase, "select">;

/** A policy whose cover has ended, and whose payout the vault still reserves. */
export type ExpiredPolicy = { readonly productId: Hex; readonly policyId: bigint };

/**
 * Reads the policies that `markExpired` would close at the time `now` (Unix seconds), those that expired first at the front. Uses
 * the index on open policies.
 */
export const readExpired = (db: Query, now: bigint, limit: number): Promise<ExpiredPolicy[]> =>
  db
    .select({ productId: policy.productId, policyId: policy.policyId })
    .from(policy)
    .where(and(hasStatus(policy, "Expired", now), isNull(policy.markedExpiredAt)))
    .orderBy(asc(policy.expiresAt), asc(policy.productId), asc(policy.policyId))
    .limit(limit);

/** The first unpaid entry of a week's redemption queue. */
export type QueueHead = { readonly queueId: bigint };

/**
 * Undefined where nothing waits that can be paid in the week of `now` (Unix seconds): an entry can be paid in its own week alone. Uses
 * the index on the status.
 */
export async function readQueueHead(db: Query, now: bigint): Promise<QueueHead | undefined> {
  const first = weekOf(now) * QUEUE_IDS_PER_WEEK;
  const [entry] = await db
    .select({ queueId: redemptionQueue.queueId })
    .from(redemptionQueue)
    .where(
      and(
        eq(redemptionQueue.status, "queued"),
        // postgres.js sends a bigint as an int8, and an id is wider.
        gte(redemptionQueue.queueId, sql`${String(first)}`),
        lt(redemptionQueue.queueId, sql`${String(first + QUEUE_IDS_PER_WEEK)}`),
      ),
    )
    .orderBy(asc(redemptionQueue.queueId))
    .limit(1);
  return entry;
}
