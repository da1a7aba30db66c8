import { product, productEvent } from "ponder:schema";
import { type Db, type LogEvent, rowAt } from "./event.ts";
import { indexedSources } from "./sources.ts";

type Product = typeof product.$inferSelect;
type Kind = (typeof productEvent.$inferSelect)["kind"];

const { catalogue } = indexedSources(process.env);

/** What the contracts have no getter for; undefined for a product that the catalogue lacks. */
export const knownTerms = (productId: string) =>
  catalogue.find((known) => known.productId === productId.toLowerCase());

/** Records an event about a product and applies its change. The first event about a product inserts it. */
export async function changeProductState(
  db: Db,
  event: LogEvent & { args: { productId: `0x${string}` } },
  kind: Kind,
  args: Record<string, string>,
  change: Partial<Pick<Product, "shield" | "active">>,
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
      durationSeconds: known === undefined ? null : BigInt(known.durationSeconds),
      triggerDropBps: known?.triggerDropBps ?? null,
      active: false,
      ...changed,
    })
    .onConflictDoUpdate(changed);
}
