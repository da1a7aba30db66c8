import { asc, count, eq, lte, sql } from "drizzle-orm";
import { redemptionQueue, vaultWeek } from "../../../ponder.schema.ts";
import type { IndexQuery } from "../../indexed/reader.ts";
import { between } from "../../indexed/walk.ts";
import { SECONDS_PER_WEEK, type WaitingEntry, type WeekSums, weekOf } from "./throttle.ts";

/** `cursor` is the id of the previous page's last entry. */
export type QueuePage = { readonly limit: number; readonly cursor?: bigint | undefined };

const { status, queueId, usdAmount, targetEpoch } = redemptionQueue;
const NO_LIMIT = sql`'Infinity'::numeric`;

/** Waiting entries with ids above `low`, up to `high`: a range of the index on status and id. */
const waiting = (low: bigint, high: bigint | undefined) =>
  between(
    [status, queueId],
    [sql`${"queued"}`, sql`${String(low + 1n)}`],
    [sql`${"queued"}`, high === undefined ? NO_LIMIT : sql`${String(high)}`],
  );

/** Number and dollars of the waiting entries, and of those that can be paid in the week of `now` (Unix seconds). */
export async function readWaiting(db: IndexQuery, now: bigint) {
  const isDue = lte(targetEpoch, sql`${String(weekOf(now))}`);
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

/** The waiting entries up to the cursor, which are paid before those of the page. */
export const readEarlier = async (db: IndexQuery, { cursor }: QueuePage): Promise<WaitingEntry[]> =>
  cursor === undefined
    ? []
    : db
        .select({ usdAmount, targetEpoch })
        .from(redemptionQueue)
        .where(waiting(-1n, cursor))
        .orderBy(asc(status), asc(queueId));

/** A page of the waiting entries in the order of their payment, one row more than `limit`. */
export const readQueue = (db: IndexQuery, { limit, cursor = -1n }: QueuePage) =>
  db
    .select()
    .from(redemptionQueue)
    .where(waiting(cursor, undefined))
    .orderBy(asc(status), asc(queueId))
    .limit(limit + 1);

/** What happened to the reserve in the week of `now` (Unix seconds). */
export async function readWeek(db: IndexQuery, now: bigint): Promise<WeekSums> {
  const [row] = await db
    .select()
    .from(vaultWeek)
    .where(eq(vaultWeek.weekStart, sql`${String(weekOf(now) * SECONDS_PER_WEEK)}`));
  return row ?? { paid: 0n, deposited: 0n, burned: 0n };
}
