/** What waits to be closed: policies whose cover has ended, and the redemption queue. By the rows alone. */
import { and, asc, count, eq, gte, isNull, lt, sql } from "drizzle-orm";
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

/** A week's redemption queue with open entries; `paid`: how many of its entries are paid. */
export type OpenQueue = { readonly week: bigint; readonly paid: bigint };

/**
 * Undefined where nothing waits that can be paid in the week of `now` (Unix seconds): an entry can be paid in its own week alone. Uses
 * the index on the status.
 */
export async function readOpenQueue(db: Query, now: bigint): Promise<OpenQueue | undefined> {
  const week = weekOf(now);
  const { status, queueId } = redemptionQueue;
  const ofWeek = (state: "queued" | "paid") =>
    and(
      eq(status, state),
      // postgres.js sends a bigint as an int8, and an id is wider.
      gte(queueId, sql`${String(week * QUEUE_IDS_PER_WEEK)}`),
      lt(queueId, sql`${String((week + 1n) * QUEUE_IDS_PER_WEEK)}`),
    );
  const [open] = await db.select({ queueId }).from(redemptionQueue).where(ofWeek("queued")).limit(1);
  if (!open) return undefined;
  const [row] = await db.select({ paid: count() }).from(redemptionQueue).where(ofWeek("paid"));
  return { week, paid: BigInt(row?.paid ?? 0) };
}
