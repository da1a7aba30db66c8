import { and, eq, sql } from "drizzle-orm";
import type { Hex } from "viem";
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

/** Reads an entry of the redemption queue with its payment, and the head. Uses the primary key. */
export function readQueueEntry(db: IndexQuery, queueId: bigint, txHash: Hex) {
  const page = db
    .select({
      tokenAmount: redemptionQueue.tokenAmount,
      priceUsed: redemptionQueue.priceUsed,
      paidAt: redemptionQueue.paidAt,
      paidTxHash: redemptionQueue.paidTxHash,
    })
    .from(redemptionQueue)
    .where(and(eq(redemptionQueue.queueId, sql`${String(queueId)}`), eq(redemptionQueue.txHash, txHash)))
    .as("page");
  return db.select().from(head).leftJoin(page, always);
}

/**
 * The payment of the redemption that `txHash` queued; null until the index has it.
 * @throws ApiError as every read of the index
 */
export async function readQueuePayment(
  index: IndexReader,
  queueId: bigint,
  queuedBy: Hex,
): Promise<QueuePayment | null> {
  const { value } = await index.rows((db) => readQueueEntry(db, queueId, queuedBy));
  const [entry] = pageRows(value);
  if (!entry) return null;
  const { tokenAmount, priceUsed, paidAt, paidTxHash: txHash } = entry;
  if (tokenAmount === null || priceUsed === null || paidAt === null || txHash === null) return null;
  return { tokenAmount, priceUsed, paidAt, txHash };
}
