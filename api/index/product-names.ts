import type { Hex } from "viem";
import { entryById } from "../../lib/products.ts";
import { shareRead } from "../../lib/shared-read.ts";
import { within } from "../../lib/within.ts";
import { readProductNames } from "./product-queries.ts";
import type { IndexReader } from "./reader.ts";

/** Names are an extra: no answer waits longer than this for them, in ms. */
const NAMES_TIMEOUT_MS = 500;
const NAMES_TTL_MS = 3000;

/**
 * Finds products' names, also while the index is away: an id's name never changes, so what was read once is kept.
 * The catalogue's products are known without asking.
 */
export function createProductNames(index: IndexReader): (ids: readonly Hex[]) => Promise<Map<Hex, string>> {
  const known = new Map<string, string>();
  const refresh = shareRead(NAMES_TTL_MS, async () => {
    const { value } = await index.read((db) => readProductNames(db));
    for (const [id, name] of value) known.set(id, name);
  });
  const nameOf = (id: Hex) => entryById(id)?.name ?? known.get(id);
  return async (ids) => {
    if (ids.some((id) => nameOf(id) === undefined)) {
      // Without the index the answer has fewer names, which is better than none at all.
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
