/**
 * The lock between the outbox, which stores events under an exclusive lock, and requests that create a subscription or replay
 * events, under shared locks. Under its lock, each side sees all that the other has committed.
 *
 * It is an advisory lock because Postgres grants these in request order. With row locks a new `for share` passes a waiting
 * `update`, so overlapping requests would starve the outbox.
 */
import type { Sql, TransactionSql } from "postgres";
import { beginWith } from "../db/connect.ts";

/** The name of the lock; `hashtextextended` makes its number. */
export const outboxLock = (chainId: number) => `service:outbox:${chainId}`;

/** Lets one outbox at a time store events, until the transaction ends. */
export const lockOutbox = (tx: TransactionSql, chainId: number) =>
  tx`select pg_advisory_xact_lock(hashtextextended(${outboxLock(chainId)}, 0))`;

/** Stops the outbox from storing events until the transaction ends. Take this lock after all row locks. */
export const lockOutboxShared = (tx: TransactionSql, chainId: number) =>
  tx`select pg_advisory_xact_lock_shared(hashtextextended(${outboxLock(chainId)}, 0))`;

/** Timeout for each lock of a transaction, in ms. All its locks together take less than a client's timeout. */
const LOCK_MS = 1500;

/** Runs a transaction with a lock timeout, and rolls it back when `signal` is aborted before it commits. */
export const abortableTransaction = <T>(
  sql: Sql,
  signal: AbortSignal,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T> =>
  beginWith(sql, { lock_timeout: `${LOCK_MS}ms` }, async (tx) => {
    const result = await work(tx);
    signal.throwIfAborted();
    return result;
  });
