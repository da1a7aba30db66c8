import { isNotNull } from "drizzle-orm";
import { productIdOf } from "../../lib/products.ts";
import { product } from "../../ponder.schema.ts";
import type { IndexQuery } from "./reader.ts";

/** The names of all products that events have told, by lowercase id; a name that is not the id's preimage is left out. */
export async function readProductNames(db: IndexQuery): Promise<Map<string, string>> {
  const rows = await db
    .select({ productId: product.productId, name: product.name })
    .from(product)
    .where(isNotNull(product.name));
  return new Map(
    rows.flatMap(({ productId, name }) =>
      name !== null && productIdOf(name) === productId ? [[productId, name] as const] : [],
    ),
  );
}
