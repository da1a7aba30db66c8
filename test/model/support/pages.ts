/** Reads every page of a list, by cursor and by offset, and compares each with the expected rows. */
import { expect } from "vitest";
import { z } from "zod";
import type { Row } from "../../src/support/rows.ts";
import type { HttpAnswer } from "../../support/http.ts";
import type { CheckedRequest } from "../../support/openapi.ts";

export type Feed = {
  readonly request: CheckedRequest;
  readonly path: string;
  /** Filters, without paging parameters. */
  readonly query?: Readonly<Record<string, string>>;
  /** The field with the rows. */
  readonly rows: string;
  readonly expected: readonly Row[];
  readonly limit: number;
  /** The expected rest of the body. */
  readonly rest: (page: Page) => Row;
  /** Whether a page lists its rows oldest first. `expected` is always newest first. */
  readonly oldestFirst?: boolean;
  /** The list's ways of paging; both when left out. */
  readonly ways?: readonly ("cursor" | "offset")[];
  /** Checks the block header of every answer. */
  readonly check: (answer: HttpAnswer) => void;
};

export type Page = {
  readonly count: number;
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
  /** The last row of the page, if another page follows. */
  readonly last: Row | undefined;
};

const cursors = z
  .object({ nextCursor: z.string().nullable() })
  .or(
    z
      .object({ next_cursor: z.string().nullable() })
      .transform(({ next_cursor }) => ({ nextCursor: next_cursor })),
  );

/** The cursor of a feed that is ordered by position. */
export const byPosition = (last: Row | undefined): string | null =>
  last ? `${last.blockNumber ?? last.block_number}-${last.logIndex ?? last.log_index}` : null;

/** Reads one page and compares it with the expected rows from `offset` on. @returns the body. */
async function page(feed: Feed, offset: number, paging: Readonly<Record<string, string>>): Promise<unknown> {
  const { request, path, query, rows, expected, limit, rest, check } = feed;
  const search = new URLSearchParams({ ...query, limit: String(limit), ...paging });
  const address = `${path}?${search}`;
  const answer = await request(address);
  expect(answer.status, `${address}: ${answer.text.slice(0, 300)}`).toBe(200);
  check(answer);
  const wanted = expected.slice(offset, offset + limit);
  const last = offset + limit < expected.length ? wanted.at(-1) : undefined;
  const fields = {
    count: wanted.length,
    limit,
    offset: Number(paging.offset ?? 0),
    total: expected.length,
    last,
  };
  expect(answer.json, address).toEqual({
    ...rest(fields),
    [rows]: feed.oldestFirst ? [...wanted].reverse() : wanted,
  });
  return answer.json;
}

/** Reads every page in each way of paging. */
export async function expectFeed(feed: Feed): Promise<void> {
  const { expected, limit, ways = ["cursor", "offset"] } = feed;
  if (ways.includes("offset")) {
    for (let offset = 0; offset <= expected.length; offset += limit) {
      await page(feed, offset, { offset: String(offset) });
    }
  }
  if (!ways.includes("cursor")) return;
  let cursor: string | null = null;
  for (let offset = 0; offset === 0 || cursor !== null; offset += limit) {
    const body: unknown = await page(feed, offset, cursor === null ? {} : { cursor });
    cursor = cursors.parse(body).nextCursor;
  }
}
