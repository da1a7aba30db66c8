/** The parts of the OpenAPI document that all indexed responses share. */
import { z } from "@hono/zod-openapi";
import type { ErrorCode } from "../../lib/errors.ts";
import { failures } from "../http/error-envelope.ts";
import { csvTable } from "./csv.ts";

const text = (description: string, example: string) => ({
  description,
  schema: { type: "string" as const, example },
});

/** Documents the block of a response. */
export const indexedBlockHeader = {
  "x-indexed-block": text("The indexed block that the response describes.", "1234"),
  "x-index-age": text(
    "Seconds since that block's timestamp, by the API's clock. It grows while the index is behind the chain, and while the chain has no new block.",
    "2",
  ),
};

const headers = {
  ...indexedBlockHeader,
  ETag: text(
    "Identifies the body, in whichever block; send it back as `If-None-Match`.",
    '"2jmj7l5rSw0yVb_v"',
  ),
  "Cache-Control": text(
    "The response may be stored but must be revalidated: a new block can change it.",
    "public, no-cache",
  ),
};

const nextPageLink = text(
  'Of a table alone: the next page, `rel="next"`. In JSON it is the cursor in the body.',
  '</api/v1/burns/recent?cursor=1234-5>; rel="next"',
);

/** The table of an answer, with its header line as the example. */
function csvContent(schema: z.ZodType) {
  const { list, columns } = csvTable(schema);
  const rows = list === undefined ? "the body as the only row of a table" : `the list \`${list}\` as a table`;
  const description = `For \`Accept: text/csv\`: ${rows}. Columns are named as the fields, nested ones as \`outer.inner\`; amounts are the same decimal strings.`;
  return { schema: z.string().openapi({ description }), example: `${columns.join(",")}\r\n` };
}

/** The responses of a route that reads only the index: its body, 304, `codes`, and the failures of every such route. */
export const indexedResponses = <Body extends z.ZodType>(
  description: string,
  schema: Body,
  ...codes: ErrorCode[]
) => ({
  200: {
    description,
    headers: { ...headers, Link: nextPageLink },
    content: {
      "application/json": { schema },
      "text/csv": csvContent(schema),
    },
  },
  304: {
    description:
      "The body is the one that `If-None-Match` names, also in the block that `x-indexed-block` names now.",
    headers,
  },
  ...failures(...codes, "internal_error", "database_unavailable", "indexer_syncing", "indexer_unavailable"),
});
