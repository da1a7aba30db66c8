/** Lists, page by page. */
import type { Client } from "./client.ts";
import type { BodyOf, Operation, PathWith, RequestOf } from "./operations.ts";

/** The lists whose pages are linked by cursors. */
export type PagedPath = {
  [P in PathWith<"get">]: BodyOf<Operation<"get", P>> extends
    | { nextCursor: string | null }
    | { next_cursor: string | null }
    ? P
    : never;
}[PathWith<"get">];

const cursorOf = (page: { nextCursor?: string | null; next_cursor?: string | null }) =>
  page.nextCursor ?? page.next_cursor ?? undefined;

/**
 * Reads the pages of a list, one at a time, to its end. Entries that appear meanwhile do not shift the pages.
 * @throws what `client.get` throws
 * @example
 * for await (const page of pages(client, "/api/v1/stats/activity", { query: { limit: 100 } })) use(page.events);
 */
export async function* pages<P extends PagedPath>(
  client: Client,
  path: P,
  request: RequestOf<Operation<"get", P>>,
): AsyncGenerator<BodyOf<Operation<"get", P>>> {
  let cursor: string | undefined;
  const first = "query" in request && typeof request.query === "object" ? request.query : {};
  do {
    // The cursor says where the next page begins, and the API refuses an offset beside it.
    const query = cursor === undefined ? first : { ...first, offset: undefined, cursor };
    const page = await client.get(path, { ...request, query });
    yield page;
    cursor = cursorOf(page);
  } while (cursor !== undefined);
}
