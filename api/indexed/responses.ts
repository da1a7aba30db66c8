/** Responses from the index: each describes one block, and can be revalidated by its tag. */
import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { accepts } from "hono/accepts";
import type { TypedResponse } from "hono/types";
import type { AsOf } from "../chain/block.ts";
import { type CsvTable, csvTable, csvText, type JsonRoute } from "./csv.ts";
import type { NewestHead } from "./newest-head.ts";
import { indexedHeaders, matchesTag, type ResponseCache } from "./response-cache.ts";

const JSON_TYPE = "application/json";
const CSV_TYPE = "text/csv";

/** The JSON text of a body of type `Body`. */
type Answer<Body> = { readonly asOf: AsOf; readonly tag: string; readonly text: string; readonly of?: Body };

/** Reads the rows of an answer in one snapshot. */
type Read<Params, Rows> = (params: Params) => Promise<{ asOf: AsOf; value: Rows }>;
/** Makes the body from the rows. */
type Shape<Params, Rows, Body> = (rows: Rows, params: Params, asOf: AsOf) => Body | Promise<Body>;

export type IndexedResponses = {
  /**
   * Defines the answers of one route. Concurrent requests with the same parameters share one read.
   * @throws the errors of the two functions
   */
  define<Params, Rows, Body>(
    read: Read<Params, Rows>,
    shape: Shape<Params, Rows, Body>,
  ): (params: Params) => Promise<Answer<Body>>;
  /**
   * Sends an answer of this route, or 304 when the client has it, and caches it. A client that prefers `text/csv` gets its
   * table, with the next page in the header `Link`.
   */
  send<Body>(c: Context, answer: Answer<Body>, route: JsonRoute): Response & TypedResponse<Body, 200, "json">;
  /** Sends an answer to a key's holder without caching it: the cache does not ask for a key. */
  sendPrivately<Body>(c: Context, answer: Answer<Body>): Response & TypedResponse<Body, 200, "json">;
};

/** The parameters as text; they may contain `bigint`s of cursors. */
const keyOf = (params: unknown) =>
  JSON.stringify(params, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));

const digest = (text: string) => createHash("sha1").update(text).digest("base64url").slice(0, 16);

/** Path and query of a request, as sent. */
function urlOf({ req: { url } }: Context): string {
  const begin = url.indexOf("/", url.indexOf("//") + 2);
  return url.slice(begin);
}

const prefersCsv = (c: Context): boolean =>
  accepts(c, { header: "Accept", supports: [JSON_TYPE, CSV_TYPE], default: JSON_TYPE }) === CSV_TYPE;

const pagedBody = z.object({
  nextCursor: z.string().nullish(),
  next_cursor: z.string().nullish(),
});

/** Path and query of the next page; undefined at the end, and for an answer without pages. */
function nextPage(url: string, text: string): string | undefined {
  const { nextCursor, next_cursor } = pagedBody.parse(JSON.parse(text));
  const cursor = nextCursor ?? next_cursor;
  if (cursor === null || cursor === undefined) return undefined;
  const { pathname, searchParams } = new URL(url);
  searchParams.set("cursor", cursor);
  searchParams.delete("offset");
  return `${pathname}?${searchParams}`;
}

export function createIndexedResponses(newest: NewestHead, cache: ResponseCache): IndexedResponses {
  const tables = new WeakMap<JsonRoute, CsvTable>();
  function tableOf(route: JsonRoute): CsvTable {
    const known = tables.get(route);
    if (known) return known;
    const table = csvTable(route.responses[200].content["application/json"].schema);
    tables.set(route, table);
    return table;
  }

  function sendCsv(c: Context, { asOf, tag, text }: Answer<unknown>, route: JsonRoute): Response {
    const ownTag = `${tag.slice(0, -1)}-csv"`;
    for (const [name, value] of indexedHeaders({ blockNumber: asOf.number, tag: ownTag }))
      c.header(name, value);
    const next = nextPage(c.req.url, text);
    if (next !== undefined) c.header("Link", `<${next}>; rel="next"`);
    if (matchesTag(c.req.header("if-none-match"), ownTag)) return c.body(null, 304);
    c.header("Content-Type", "text/csv; charset=utf-8");
    return c.body(csvText(tableOf(route), text), 200);
  }

  function send<Body>(
    c: Context,
    answer: Answer<Body>,
    route: JsonRoute,
  ): Response & TypedResponse<Body, 200, "json">;
  function send(c: Context, answer: Answer<unknown>, route: JsonRoute): Response {
    if (prefersCsv(c)) return sendCsv(c, answer, route);
    const { asOf, tag, text } = answer;
    const { hash: blockHash, number: blockNumber } = asOf;
    cache.store(urlOf(c), { blockHash, blockNumber, tag, text });
    for (const [name, value] of indexedHeaders({ blockNumber, tag })) c.header(name, value);
    if (matchesTag(c.req.header("if-none-match"), tag)) return c.body(null, 304);
    c.header("Content-Type", "application/json");
    return c.body(text, 200);
  }

  function sendPrivately<Body>(c: Context, answer: Answer<Body>): Response & TypedResponse<Body, 200, "json">;
  function sendPrivately(c: Context, { asOf, text }: Answer<unknown>): Response {
    c.header("x-indexed-block", String(asOf.number));
    c.header("Cache-Control", "no-store");
    c.header("Content-Type", "application/json");
    return c.body(text, 200);
  }

  return {
    define<Params, Rows, Body>(read: Read<Params, Rows>, shape: Shape<Params, Rows, Body>) {
      const running = new Map<string, Promise<Answer<Body>>>();

      async function make(params: Params): Promise<Answer<Body>> {
        const begun = performance.now();
        const { asOf, value } = await read(params);
        newest.learn(asOf, begun);
        const text = JSON.stringify(await shape(value, params, asOf));
        return { asOf, tag: `"${asOf.hash.slice(2, 18)}-${digest(text)}"`, text };
      }

      return async (params: Params) => {
        // A request may not join a read that began at an older block than the client may have seen.
        const key = `${newest.known()?.hash} ${keyOf(params)}`;
        const joined = running.get(key);
        if (joined) return joined;
        const answer = make(params).finally(() => running.delete(key));
        running.set(key, answer);
        return answer;
      };
    },
    send,
    sendPrivately,
  };
}
