import { and, eq, inArray, sql } from "drizzle-orm";
import type { Database } from "../db/connect.ts";
import { type Purchase, purchaseOf } from "./purchase.ts";
import { purchaseTable } from "./tables.ts";

/** Reads one purchase; undefined when no row has this id. */
export async function readPurchase(db: Database, id: string): Promise<Purchase | undefined> {
  const [row] = await readPurchases(db, [id]);
  return row;
}

/** Reads several purchases in one query, in no particular order; unknown ids are left out. */
export async function readPurchases(db: Database, ids: readonly string[]): Promise<Purchase[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .select()
    .from(purchaseTable)
    .where(inArray(purchaseTable.id, [...ids]));
  return rows.map(purchaseOf);
}

/** A caller is being told the outcome: the same wish without a key is from now on another purchase. */
export async function noteTold(db: Database, id: string): Promise<void> {
  await db
    .update(purchaseTable)
    .set({ joinable: false })
    .where(and(eq(purchaseTable.id, id), purchaseTable.joinable));
}

/** Lets the writer's sweeper find a purchase at once, because its wake-up was lost. */
export async function wakeWithoutQueue(db: Database, id: string): Promise<void> {
  await db
    .update(purchaseTable)
    .set({ wakeAt: sql`now()` })
    .where(and(eq(purchaseTable.id, id), eq(purchaseTable.state, "accepted")));
}
