import { isNotNull } from "drizzle-orm";
import type { Hex } from "viem";
import { entryById, productIdOf } from "../../lib/products.ts";
import { shareRead } from "../../lib/shared-read.ts";
import { within } from "../../lib/timeout.ts";
import { product } from "../../ponder.schema.ts";
import type { IndexQuery, IndexReader } from "./reader.ts";

/** Longest wait for names, in ms; without them the response has null. */
const NAMES_TIMEOUT_MS = 500;
const NAMES_TTL_MS = 3000;

/** The names of all indexed products, by lowercase id, without names that are not their id's preimage. */
async function readProductNames(db: IndexQuery): Promise<Map<string, string>> {
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

export type ProductNames = (ids: readonly Hex[]) => Promise<Map<Hex, string>>;

/**
 * Finds products' names, from the catalogue or the index. An id's name never changes, so names are kept, and known also
 * while the index is down.
 */
export function createProductNames(index: IndexReader): ProductNames {
  const known = new Map<string, string>();
  const refresh = shareRead(NAMES_TTL_MS, async () => {
    const { value } = await index.read((db) => readProductNames(db));
    for (const [id, name] of value) known.set(id, name);
  });
  const nameOf = (id: Hex) => entryById(id)?.name ?? known.get(id);
  return async (ids) => {
    if (ids.some((id) => nameOf(id) === undefined)) {
      // Without the index the answer just has fewer names.
      await within(NAMES_TIMEOUT_MS, refresh(), () => new Error("too slow")).catch(() => {});
    }
    return new Map(
      ids.flatMap((id) => {
        const name = nameOf(id);
        return name === undefined ? [] : [[id, name] as const];
      }),
    );
  };
}
