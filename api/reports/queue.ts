import { and, eq } from "drizzle-orm";
import type { Hex } from "viem";
import { weekOf } from "../../lib/vault-units.ts";
import { head, redemptionQueue } from "../../ponder.schema.ts";
import { pageRows } from "../indexed/feed.ts";
import type { IndexQuery, IndexReader } from "../indexed/reader.ts";
import { always } from "../indexed/walk.ts";

/** The payment of a queued redemption; tokens and price have 18 decimals, `paidAt` in Unix seconds. */
export type QueuePayment = {
  readonly tokenAmount: bigint;
  readonly priceUsed: bigint;
  readonly paidAt: bigint;
  readonly txHash: Hex;
};

/** An entry of the redemption queue. `payment` is null until it is paid. */
export type QueueEntry = {
  readonly queueId: bigint;
  readonly payment: QueuePayment | null;
  /** Its week is over in the indexed block. */
  readonly isOver: boolean;
};

/** Reads the entry that a log has queued, and the head. */
export function readQueueEntry(db: IndexQuery, txHash: Hex, logIndex: number) {
  const page = db
    .select()
    .from(redemptionQueue)
    .where(and(eq(redemptionQueue.txHash, txHash), eq(redemptionQueue.logIndex, logIndex)))
    .as("page");
  return db.select().from(head).leftJoin(page, always);
}

/**
 * The entry that a log has queued; null until the index has it.
 * @throws ApiError as every read of the index
 */
export async function readQueued(
  index: IndexReader,
  txHash: Hex,
  logIndex: number,
): Promise<QueueEntry | null> {
  const { value, asOf } = await index.rows((db) => readQueueEntry(db, txHash, logIndex));
  const [entry] = pageRows(value);
  if (!entry) return null;
  const { queueId, targetEpoch, tokenAmount, priceUsed, paidAt, paidTxHash } = entry;
  const isPaid = tokenAmount !== null && priceUsed !== null && paidAt !== null && paidTxHash !== null;
  return {
    queueId,
    payment: isPaid ? { tokenAmount, priceUsed, paidAt, txHash: paidTxHash } : null,
    isOver: weekOf(asOf.timestamp) > targetEpoch,
  };
}
