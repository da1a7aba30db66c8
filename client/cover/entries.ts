/** Lists, entry by entry. */
import { withBigints } from "../bigints.ts";
import type { BodyOf, Operation, RequestOf } from "../operations.ts";
import { type PagedPath, pages } from "../pages.ts";
import type { Context, Read } from "./context.ts";

/** The names of a body's lists. */
type ListIn<Body> = {
  [Name in keyof Body]: Body[Name] extends readonly unknown[] ? Name : never;
}[keyof Body];

type EntryOf<List> = List extends readonly (infer Entry)[] ? Entry : never;

/**
 * The entries of a list, from the newest on; the next page is read once they are used up.
 * @throws ApiError, ConnectionError
 */
export async function* entries<
  P extends PagedPath,
  Name extends ListIn<BodyOf<Operation<"get", P>>> & keyof Read<P>,
>(
  { api }: Context,
  path: P,
  name: Name,
  request: RequestOf<Operation<"get", P>>,
): AsyncGenerator<EntryOf<Read<P>[Name]>> {
  for await (const page of pages(api, path, request)) yield* listOf(withBigints(page)[name]);
}

function listOf<List>(list: List): readonly EntryOf<List>[];
function listOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}
