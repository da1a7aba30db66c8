import { and, asc, count, eq, gte, lt, lte, or, sql } from "drizzle-orm";
import { WEEK_SECONDS, weekOf } from "../../../lib/vault-units.ts";
import { redemptionQueue, vaultWeek } from "../../../ponder.schema.ts";
import type { Period } from "../../http/paging.ts";
import type { IndexQuery } from "../../indexed/reader.ts";
import { between } from "../../indexed/walk.ts";
import type { WaitingEntry, WeekSums } from "./throttle.ts";

/** `cursor` is the id of the previous page's last entry; the period is that of the queueing. */
export type QueuePage = Period & { readonly limit: number; readonly cursor?: bigint | undefined };

const { status, queueId, usdAmount, targetEpoch, blockTimestamp } = redemptionQueue;
const NO_LIMIT = sql`'Infinity'::numeric`;

/** Waiting entries with ids above `low`, up to `high`: a range of the index on status and id. */
const waiting = (low: bigint, high: bigint | undefined) =>
  between(
    [status, queueId],
    [sql`${"queued"}`, sql`${String(low + 1n)}`],
    [sql`${"queued"}`, high === undefined ? NO_LIMIT : sql`${String(high)}`],
  );

/** Number and dollars of the unpaid entries, and of those that can be paid in the week of `now` (Unix seconds). */
export async function readWaiting(db: IndexQuery, now: bigint) {
  const isDue = eq(targetEpoch, sql`${String(weekOf(now))}`);
  const [row] = await db
    .select({
      entries: count(),
      usd: sql<string>`coalesce(sum(${usdAmount}), 0)::text`,
      dueUsd: sql<string>`coalesce(sum(${usdAmount}) filter (where ${isDue}), 0)::text`,
    })
    .from(redemptionQueue)
    .where(waiting(-1n, undefined));
  return { entries: row?.entries ?? 0, usd: BigInt(row?.usd ?? 0), dueUsd: BigInt(row?.dueUsd ?? 0) };
}

/** postgres.js sends a bigint as an int8, which is too small. */
const numeric = (value: bigint) => sql`${String(value)}`;

/** The waiting entries up to the cursor, or from before the period: those that are paid before the page's. */
export const readEarlier = async (db: IndexQuery, { cursor, from }: QueuePage): Promise<WaitingEntry[]> =>
  cursor === undefined && from === undefined
    ? []
    : db
        .select({ queueId, usdAmount, targetEpoch })
        .from(redemptionQueue)
        .where(
          and(
            waiting(-1n, from === undefined ? cursor : undefined),
            from === undefined
              ? undefined
              : or(
                  cursor === undefined ? undefined : lte(queueId, numeric(cursor)),
                  lt(blockTimestamp, numeric(from)),
                ),
          ),
        )
        .orderBy(asc(status), asc(queueId));

/** A page of the waiting entries in the order of their payment, one row more than `limit`. */
export const readQueue = (db: IndexQuery, { limit, cursor = -1n, from, to }: QueuePage) =>
  db
    .select()
    .from(redemptionQueue)
    .where(
      and(
        waiting(cursor, undefined),
        from === undefined ? undefined : gte(blockTimestamp, numeric(from)),
        to === undefined ? undefined : lt(blockTimestamp, numeric(to)),
      ),
    )
    .orderBy(asc(status), asc(queueId))
    .limit(limit + 1);

/** Sums the redemptions of the week of `now` (Unix seconds). */
export async function readWeek(db: IndexQuery, now: bigint): Promise<WeekSums> {
  const [row] = await db
    .select()
    .from(vaultWeek)
    .where(eq(vaultWeek.weekStart, sql`${String(weekOf(now) * WEEK_SECONDS)}`));
  return row ?? { paid: 0n, redeemed: 0n };
}
