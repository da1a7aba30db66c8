/** What the descriptions of all indexed answers have in common. */
import type { z } from "@hono/zod-openapi";
import type { ErrorCode } from "../../lib/errors.ts";
import { failures } from "../http/error-envelope.ts";

const text = (description: string, example: string) => ({
  description,
  schema: { type: "string" as const, example },
});

/** Names the block as of which an indexed answer is true. */
export const indexedBlockHeader = {
  "x-indexed-block": text("The indexed block as of which the answer is true.", "1234"),
};

const headers = {
  ...indexedBlockHeader,
  ETag: text(
    "Names the block and the answer; send it back as `If-None-Match`.",
    '"9f86d081884c7d65-2jmj7l5rSw0yVb_v"',
  ),
  "Cache-Control": text(
    "The answer may be kept and must be asked for again: a new block can change it.",
    "public, no-cache",
  ),
};

/** The answers of a route that reads the index alone: its body, 304, and the failures beside those it names itself. */
export const indexedResponses = <Body extends z.ZodType>(
  description: string,
  schema: Body,
  ...codes: ErrorCode[]
) => ({
  200: { description, headers, content: { "application/json": { schema } } },
  304: { description: "Nothing has changed since the answer that `If-None-Match` names.", headers },
  ...failures(...codes, "internal_error", "database_unavailable", "indexer_syncing", "indexer_unavailable"),
});
