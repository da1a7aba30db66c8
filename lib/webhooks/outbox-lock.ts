/**
 * The lock between the outbox's pass, which holds it alone, and those who make subscriptions or have events sent again, who
 * hold it together. What the last pass has stored is seen by the statements that follow it, and the next pass sees what
 * they did.
 *
 * An advisory lock, for these are granted in the order in which they are asked for. A lock on the outbox's row is not: each
 * new `for share` joins those who hold the row past an update that waits, which is never granted while they overlap.
 */
import { sql } from "drizzle-orm";
import type { Database } from "../db/connect.ts";

/** What `hashtextextended` makes the lock's number of. */
export const outboxLock = (chainId: number) => `service:outbox:${chainId}`;

export type Tx = Parameters<Parameters<Database["transaction"]>[0]>[0];

/** Holds the outbox where it stands until the transaction ends. After all rows that the transaction locks. */
export const holdOutbox = (tx: Tx, chainId: number) =>
  tx.execute(sql`select pg_advisory_xact_lock_shared(hashtextextended(${outboxLock(chainId)}, 0))`);

/** How long a transaction waits for each of its locks, in ms: for all of them less than a client waits for its answer. */
const LOCK_MS = 1500;

/** A transaction that gives up when it waits for long, and that leaves nothing behind once it is not `wanted` any more. */
export function whileWanted<T>(db: Database, wanted: AbortSignal, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.execute(sql.raw(`set local lock_timeout = ${LOCK_MS}`));
    const result = await work(tx);
    wanted.throwIfAborted();
    return result;
  });
}
