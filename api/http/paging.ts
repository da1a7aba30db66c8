/** Pages of a list: by `limit` and `offset`, or along the feed by `cursor`. */
import { z } from "@hono/zod-openapi";
import { Address, integerInput } from "./field-types.ts";

/** Where an event stands in the chain, and a row in a feed. */
export type Position = { readonly blockNumber: bigint; readonly logIndex: number };

/** Each entry that is passed over is read: whoever goes further back follows the cursor. */
const MAX_OFFSET = 10_000;

export const limitInput = (max = 100, fallback = 50) =>
  integerInput(1, max, fallback).openapi({ description: "The most entries that the answer may hold." });

export const offsetInput = integerInput(0, MAX_OFFSET, 0).openapi({
  description: "Entries to pass over. For long feeds `cursor` is faster, and new entries do not shift it.",
});

const cursorText = (pattern: RegExp, example: string) =>
  z
    .string()
    .regex(pattern, "must be the next cursor of an answer")
    .openapi({ description: "The next cursor of the page before, to go on behind it.", example });

/** The position of the last entry of the page before. */
export const positionCursor = cursorText(/^\d{1,15}-\d{1,9}$/, "1234-5")
  .transform((text): Position => {
    const [blockNumber = "", logIndex = ""] = text.split("-");
    return { blockNumber: BigInt(blockNumber), logIndex: Number(logIndex) };
  })
  .optional();

/** The id of the last entry of the page before, in a list in the order of its ids. */
export const idCursor = cursorText(/^\d{1,78}$/, "17")
  .transform(BigInt)
  .optional();

/** The same for the service's own rows, whose numbers are not the chain's. */
export const rowCursor = cursorText(/^\d{1,15}$/, "17")
  .transform(Number)
  .optional();

export const cursorOf = ({ blockNumber, logIndex }: Position): string => `${blockNumber}-${logIndex}`;

/** For `superRefine` of a query: a cursor says by itself where the page begins. */
export function refuseOffsetWithCursor(
  query: { offset: number; cursor?: unknown },
  context: z.core.$RefinementCtx,
): void {
  if (query.cursor !== undefined && query.offset !== 0) {
    context.addIssue({ code: "custom", path: ["offset"], message: "may not be combined with cursor" });
  }
}

/** The query of a feed in the order of the chain. */
export const feedQuery = <Shape extends z.ZodRawShape>(
  more: Shape,
  { maxLimit = 100, defaultLimit = 50 }: { maxLimit?: number; defaultLimit?: number } = {},
) =>
  z.object({
    ...more,
    limit: limitInput(maxLimit, defaultLimit),
    offset: offsetInput,
    cursor: positionCursor,
  });

export type FeedPage = {
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: Position | undefined;
};

/** The entries of a page that was read beside the head, which stands alone where there are none. */
export const pagesOf = <Row>(found: readonly { readonly page: Row | null }[]): Row[] =>
  found.flatMap(({ page }) => (page === null ? [] : [page]));

/**
 * A page out of rows that were read one further than its limit: `next` is the last entry's, or null where nothing
 * follows.
 */
export function cutPage<Row, Cursor>(
  rows: readonly Row[],
  limit: number,
  cursor: (row: Row) => Cursor,
): { rows: readonly Row[]; next: Cursor | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, next: rows.length > limit && last !== undefined ? cursor(last) : null };
}

/** The query of a list of a wallet's own rows. */
export const ownPageQuery = z.object({ limit: limitInput(), offset: offsetInput });

/**
 * The answer of such a list: the fields of the page, and what `entries` holds beside them. `what` names the entries, and
 * `ofWallet` those that `total` counts.
 */
export const ownPage = <Shape extends z.ZodRawShape>(what: string, ofWallet: string, entries: Shape) =>
  z.object({
    wallet: Address,
    count: z.int().openapi({ description: `${what} in this answer.`, example: 1 }),
    total: z.int().openapi({ description: `${ofWallet} of the wallet.`, example: 1 }),
    limit: z.int().openapi({ example: 50 }),
    offset: z.int().openapi({ example: 0 }),
    ...entries,
  });

const cursorField = z
  .string()
  .nullable()
  .openapi({ description: "`cursor` of the next page; null at the end.", example: null });

/** The fields of every paged answer beside its entries. */
export const pageFields = {
  count: z.int().openapi({ description: "Entries in this answer.", example: 1 }),
  limit: z.int().openapi({ example: 50 }),
  offset: z.int().openapi({ example: 0 }),
  nextCursor: cursorField,
};
export { cursorField };
