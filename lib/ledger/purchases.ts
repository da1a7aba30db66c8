import type { ISql } from "postgres";
import { type Purchase, type PurchaseRow, purchaseColumns, purchaseOf } from "./purchase.ts";

/** Reads one purchase; undefined when no row has this id. */
export async function readPurchase(sql: ISql, id: string): Promise<Purchase | undefined> {
  const [row] = await readPurchases(sql, [id]);
  return row;
}

/** Reads several purchases in one query, in no particular order; unknown ids are left out. */
export async function readPurchases(sql: ISql, ids: readonly string[]): Promise<Purchase[]> {
  if (ids.length === 0) return [];
  const rows = await sql<PurchaseRow[]>`
    select ${purchaseColumns(sql)} from service.purchase_progress where id = any(${[...ids]}::uuid[])`;
  return rows.map(purchaseOf);
}

/** A caller receives the outcome: the same request without an idempotency key is a new purchase from now on. */
export async function noteOutcomeReceived(sql: ISql, id: string): Promise<void> {
  await sql`update service.purchase set answers_repeats = false where id = ${id} and idempotency_key is null and answers_repeats`;
}

/** Lets the writer's sweeper find a purchase at once, because its wake-up was lost. */
export async function wakeWithoutQueue(sql: ISql, id: string): Promise<void> {
  await sql`update service.waiting set wake_at = now() where intent = ${id}`;
}
