import type { Hex } from "viem";
import { entryById } from "../../../lib/products.ts";
import { product, productStats } from "../../../ponder.schema.ts";
import type { IndexQuery } from "../../indexed/reader.ts";

/** A product's sums over all its policies; amounts as in `productStats`. */
export type ProductSums = Omit<typeof productStats.$inferSelect, "productId"> & {
  readonly productId: Hex;
  /** Null when unknown. */
  readonly name: string | null;
  readonly asset: Hex | null;
};

export const noSums = {
  ...{ policies: 0, triggered: 0, cancelled: 0, untouched: 0 },
  ...{ coverage: 0n, premium: 0n, premiumRefunded: 0n, payout: 0n, paid: 0n },
};

/** Reads every product that an event has named, and every one with policies, by name and id. One row each. */
export async function readProductSums(db: IndexQuery): Promise<ProductSums[]> {
  const [products, stats] = await Promise.all([
    db.select({ productId: product.productId, name: product.name, asset: product.asset }).from(product),
    db.select().from(productStats),
  ]);
  const productIds = new Set([...products, ...stats].map(({ productId }) => productId));
  return [...productIds]
    .map((productId): ProductSums => {
      const known = products.find((row) => row.productId === productId);
      const sums = stats.find((row) => row.productId === productId) ?? noSums;
      const name = known?.name ?? entryById(productId)?.name ?? null;
      return { ...sums, productId, name, asset: known?.asset ?? null };
    })
    .sort((a, b) => ((a.name ?? "~") + a.productId < (b.name ?? "~") + b.productId ? -1 : 1));
}
