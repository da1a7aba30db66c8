/** Feeds: pages of events, newest first, each read together with the indexed head. */
import { type ColumnsSelection, type DrizzleTypeError, sql } from "drizzle-orm";
import type { PgColumn, SubqueryWithSelection, TableLikeHasEmptySelection } from "drizzle-orm/pg-core";
import { head } from "../../ponder.schema.ts";
import type { IndexQuery } from "./reader.ts";
import { always } from "./walk.ts";

/** drizzle's own condition for a subquery that can be joined: it has columns. */
type Joinable<Columns extends ColumnsSelection> =
  TableLikeHasEmptySelection<SubqueryWithSelection<Columns, "page">> extends true
    ? DrizzleTypeError<"Cannot reference a data-modifying statement subquery if it doesn't contain a `returning` clause">
    : SubqueryWithSelection<Columns, "page">;

const hasColumns = <Columns extends ColumnsSelection>(
  page: SubqueryWithSelection<Columns, "page">,
): page is SubqueryWithSelection<Columns, "page"> & Joinable<Columns> =>
  Object.keys(page._.selectedFields).length > 0;

/**
 * Reads a page and the head in one statement, so that both are of one moment. Each row has the head; an empty page is one
 * row with the head alone.
 */
export function readFeed<Columns extends { blockNumber: PgColumn; logIndex: PgColumn }>(
  db: IndexQuery,
  page: SubqueryWithSelection<Columns, "page">,
) {
  if (!hasColumns(page)) throw new Error("the page has no columns");
  return db
    .select()
    .from(head)
    .leftJoin<SubqueryWithSelection<Columns, "page">>(page, always)
    .orderBy(sql`"page"."block_number" desc, "page"."log_index" desc`);
}

/** The rows of a page, without the head. */
export const pageRows = <Row>(found: readonly { readonly page: Row | null }[]): Row[] =>
  found.flatMap(({ page }) => (page === null ? [] : [page]));
