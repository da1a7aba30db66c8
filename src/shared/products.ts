import { product, productEvent } from "ponder:schema";
import { knownTerms } from "./catalogue.ts";
import { type Db, type LogEvent, rowAt } from "./event.ts";

type Product = typeof product.$inferSelect;
type Kind = (typeof productEvent.$inferSelect)["kind"];

/** Records an event about a product and applies its change. The first event about a product inserts it. */
export async function changeProductState(
  db: Db,
  event: LogEvent & { args: { productId: `0x${string}` } },
  kind: Kind,
  args: Record<string, string | boolean>,
  change: Partial<Omit<Product, "productId" | "updatedAtBlock">>,
): Promise<void> {
  const { productId } = event.args;
  await db.insert(productEvent).values(rowAt(event, { productId, kind, args }));
  const known = knownTerms(productId);
  const changed = { ...change, updatedAtBlock: event.block.number };
  await db
    .insert(product)
    .values({
      productId,
      name: known?.name ?? null,
      asset: known?.asset ?? null,
      durationSeconds: known?.durationSeconds ?? null,
      triggerDropBps: known?.triggerDropBps ?? null,
      active: false,
      removed: false,
      ...changed,
    })
    .onConflictDoUpdate(changed);
}
