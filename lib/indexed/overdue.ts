/** What waits to be closed: policies whose cover has ended, and the redemption queue. By the rows alone. */
import { and, asc, eq, isNull } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Hex } from "viem";
import { policy, redemptionQueue } from "../../ponder.schema.ts";
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

/** The oldest unpaid entry of the redemption queue; it can be paid from the week `targetEpoch` of the throttle on. */
export type QueueHead = { readonly queueId: bigint; readonly targetEpoch: bigint };

/** Undefined while the queue is empty. Uses the index on the status. */
export async function readQueueHead(db: Query): Promise<QueueHead | undefined> {
  const [entry] = await db
    .select({ queueId: redemptionQueue.queueId, targetEpoch: redemptionQueue.targetEpoch })
    .from(redemptionQueue)
    .where(eq(redemptionQueue.status, "queued"))
    .orderBy(asc(redemptionQueue.queueId))
    .limit(1);
  return entry;
}
