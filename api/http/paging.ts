/** Pages of a list: by `limit` and `offset`, or by `cursor` along a feed. */
import { z } from "@hono/zod-openapi";
import { failures } from "./error-envelope.ts";
import { Address, integerInput, unixSecondsInput } from "./field-types.ts";
import { requestObject } from "./request-object.ts";

/** The position of an event in the chain, and of its row in a feed. */
export type Position = { readonly blockNumber: bigint; readonly logIndex: number };

/** Postgres reads each skipped entry, so the offset is limited; cursors reach further back. */
const MAX_OFFSET = 10_000;

export const limitInput = (max = 100, fallback = 50) =>
  integerInput(1, max, fallback).openapi({ description: "Maximum number of entries in the response." });

export const offsetInput = integerInput(0, MAX_OFFSET, 0).openapi({
  description: "Entries to skip. In long feeds `cursor` is faster, and new entries do not shift it.",
});

/** The cursor of a list in an order of its own, as text. */
export const cursorText = (pattern: RegExp, example: string) =>
  z
    .string()
    .regex(pattern, "must be the next cursor of a previous page")
    .openapi({ description: "The next cursor of the previous page.", example });

/** The position of the previous page's last entry. */
export const positionCursor = cursorText(/^\d{1,15}-\d{1,9}$/, "1234-5")
  .transform((text): Position => {
    const [blockNumber = "", logIndex = ""] = text.split("-");
    return { blockNumber: BigInt(blockNumber), logIndex: Number(logIndex) };
  })
  .optional();

/** The id of the previous page's last entry, in a list ordered by on-chain ids. */
export const idCursor = cursorText(/^\d{1,78}$/, "17")
  .transform(BigInt)
  .optional();

/** The id of the previous page's last entry, in a list of the service's own rows. */
export const rowCursor = cursorText(/^\d{1,15}$/, "17")
  .transform(Number)
  .optional();

export const cursorOf = ({ blockNumber, logIndex }: Position): string => `${blockNumber}-${logIndex}`;

/** For `superRefine` of a query: `offset` makes no sense beside a cursor. */
export function refuseOffsetWithCursor(
  query: { offset: number; cursor?: unknown },
  context: z.core.$RefinementCtx,
): void {
  if (query.cursor !== undefined && query.offset !== 0) {
    context.addIssue({ code: "custom", path: ["offset"], message: "may not be combined with cursor" });
  }
}

/** The times of the blocks of a list's rows, Unix seconds: `from` included, `to` excluded. Without either, all times. */
export type Period = { readonly from?: bigint | undefined; readonly to?: bigint | undefined };

/** `from` and `to` of a query; see {@link refuseEmptyPeriod}. */
export const periodInput = {
  from: unixSecondsInput.optional().openapi({
    description: "Only rows of blocks from this time on, Unix seconds.",
    example: "1767225600",
  }),
  to: unixSecondsInput.optional().openapi({
    description: "Only rows of blocks before this time, Unix seconds; later than `from`.",
    example: "1769904000",
  }),
};

/** For `superRefine` of a query: a period must have a length. */
export function refuseEmptyPeriod({ from, to }: Period, context: z.core.$RefinementCtx): void {
  if (from !== undefined && to !== undefined && to <= from) {
    context.addIssue({ code: "custom", path: ["to"], message: "must be later than from" });
  }
}

/** For `superRefine` of a feed's query. */
export function refuseFeedQuery(
  query: Period & { offset: number; cursor?: unknown },
  context: z.core.$RefinementCtx,
): void {
  refuseOffsetWithCursor(query, context);
  refuseEmptyPeriod(query, context);
}

/** The query of a feed in chain order, to be refined by {@link refuseFeedQuery}. */
export const feedQuery = <Shape extends z.ZodRawShape>(
  more: Shape,
  { maxLimit = 100, defaultLimit = 50 }: { maxLimit?: number; defaultLimit?: number } = {},
) =>
  requestObject({
    ...more,
    ...periodInput,
    limit: limitInput(maxLimit, defaultLimit),
    offset: offsetInput,
    cursor: positionCursor,
  });

export type FeedPage = Period & {
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: Position | undefined;
};

/**
 * Cuts a page from rows that were read with one row more than the limit. `next` is the cursor of the page's last entry,
 * or null at the end.
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

/** `cursor` of the next page. */
export const cursorField = z
  .string()
  .nullable()
  .openapi({ description: "`cursor` of the next page; null at the end.", example: null });

/** The fields of every paged response beside its entries. */
export const pageFields = {
  count: z.int().openapi({ description: "Entries in this response.", example: 1 }),
  limit: z.int().openapi({ example: 50 }),
  offset: z.int().openapi({ example: 0 }),
  nextCursor: cursorField,
};

/** The query of a list of a wallet's own rows. */
export const ownListQuery = requestObject({ limit: limitInput(), offset: offsetInput });

/** The body of such a list: the page's fields and `entries`. `noun` names the entries, and `total` counts `ofWallet`. */
export const ownList = <Shape extends z.ZodRawShape>(noun: string, ofWallet: string, entries: Shape) =>
  z.object({
    wallet: Address,
    count: z.int().openapi({ description: `${noun} in this response.`, example: 1 }),
    total: z.int().openapi({ description: `${ofWallet} of the wallet.`, example: 1 }),
    limit: z.int().openapi({ example: 50 }),
    offset: z.int().openapi({ example: 0 }),
    ...entries,
  });

/** The responses of such a list. */
export const ownListResponses = <Schema extends z.ZodType>(schema: Schema) => ({
  200: { description: "One page.", content: { "application/json": { schema } } },
  ...failures(
    "validation_error",
    "unauthenticated",
    "insufficient_scope",
    "internal_error",
    "database_unavailable",
  ),
});
