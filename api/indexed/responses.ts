/** Responses from the index: each describes one block, and can be revalidated by its tag. */
import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { routePath } from "hono/route";
import type { TypedResponse } from "hono/types";
import type { AsOf } from "../chain/block.ts";
import type { AnswerSource } from "../http/request-metrics.ts";
import { type CsvTable, csvTable, csvText, type JsonRoute } from "./csv.ts";
import { indexAge } from "./index-age.ts";
import { JsonText } from "./json-text.ts";
import type { NewestHead } from "./newest-head.ts";
import { prefersCsv } from "./prefers-csv.ts";
import {
  indexedHeaders,
  type JsonBody,
  jsonBody,
  type KeptAnswer,
  matchesTag,
  type ResponseCache,
} from "./response-cache.ts";

/** The JSON text of a body of type `Body`; `key` names the route and its validated parameters. */
type Answer<Body> = KeptAnswer & { readonly key: string; readonly of?: Body };

/**
 * Holds an answer while it is made, and nothing afterwards. A Map with many deleted entries moves to a new table. The old one still refers
 * to what the Map held then, and V8 may free it only in a major collection, of the whole heap: it should refer to no answers.
 */
type Running<Body> = { answer: Promise<Answer<Body>> | undefined };

/** Reads the rows of an answer in one snapshot. */
type Read<Params, Rows> = (params: Params) => Promise<{ asOf: AsOf; value: Rows }>;
/** A body, or its JSON where Postgres has written it. */
type Shaped<Body> = Body | JsonText<Body>;
/** Makes the body from the rows. */
type Shape<Params, Rows, Body> = (
  rows: Rows,
  params: Params,
  asOf: AsOf,
) => Shaped<Body> | Promise<Shaped<Body>>;

export type IndexedResponses = {
  /**
   * Defines the answers of one route. Requests with the same parameters share one read, and the answer while it is kept.
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

/** Validated parameters as text, in the order of their schema; they may contain `bigint`s of cursors. */
const textOf = (params: unknown) =>
  JSON.stringify(params, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));

const digest = (body: JsonBody) => createHash("sha1").update(body).digest("base64url").slice(0, 16);

/** Path and query of a request, as sent. */
function urlOf({ req: { url } }: Context): string {
  const begin = url.indexOf("/", url.indexOf("//") + 2);
  return url.slice(begin);
}

const pageWithCursor = z.object({
  nextCursor: z.string().nullish(),
  next_cursor: z.string().nullish(),
});
/** A page that is found by its offset alone. */
const pageWithOffset = z.object({ total: z.int(), offset: z.int(), count: z.int().min(1) });

/** Path and query of the next page; undefined at the end, and for an answer without pages. */
function nextPage(url: string, text: string): string | undefined {
  const body: unknown = JSON.parse(text);
  const { pathname, searchParams } = new URL(url);
  const { nextCursor, next_cursor } = pageWithCursor.parse(body);
  // Null at the end, and undefined where pages have no cursor.
  const cursor = nextCursor === undefined ? next_cursor : nextCursor;
  const { data: page } = pageWithOffset.safeParse(body);
  if (cursor) {
    searchParams.set("cursor", cursor);
    searchParams.delete("offset");
  } else if (cursor === undefined && page && page.offset + page.count < page.total) {
    searchParams.set("offset", String(page.offset + page.count));
  } else return undefined;
  return `${pathname}?${searchParams}`;
}

/** @param onAnswer hears where each answer came from. */
export function createIndexedResponses(
  newest: NewestHead,
  cache: ResponseCache,
  onAnswer: (source: AnswerSource) => void = () => {},
): IndexedResponses {
  /** The number of routes so far. */
  let defined = 0;
  const tables = new WeakMap<JsonRoute, CsvTable>();
  function tableOf(route: JsonRoute): CsvTable {
    const known = tables.get(route);
    if (known) return known;
    const table = csvTable(route.responses[200].content["application/json"].schema);
    tables.set(route, table);
    return table;
  }

  function sendCsv(c: Context, { asOf, tag, body }: Answer<unknown>, route: JsonRoute): Response {
    const text = body.toString();
    const ownTag = `${tag.slice(0, -1)}-csv"`;
    for (const [name, value] of indexedHeaders({ blockNumber: asOf.number, tag: ownTag }))
      c.header(name, value);
    c.header("x-index-age", indexAge(asOf));
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
    if (prefersCsv(c.req.header("accept"))) return sendCsv(c, answer, route);
    const { key, asOf, tag, body } = answer;
    // A late answer of an older block would never be sent, and would replace the newer one.
    if (newest.known()?.hash === asOf.hash)
      cache.store(urlOf(c), key, { asOf, tag, body, route: routePath(c, -1) });
    for (const [name, value] of indexedHeaders({ blockNumber: asOf.number, tag })) c.header(name, value);
    c.header("x-index-age", indexAge(asOf));
    if (matchesTag(c.req.header("if-none-match"), tag)) return c.body(null, 304);
    c.header("Content-Type", "application/json");
    return c.body(body, 200);
  }

  function sendPrivately<Body>(c: Context, answer: Answer<Body>): Response & TypedResponse<Body, 200, "json">;
  function sendPrivately(c: Context, { asOf, body }: Answer<unknown>): Response {
    c.header("x-indexed-block", String(asOf.number));
    c.header("x-index-age", indexAge(asOf));
    c.header("Cache-Control", "no-store");
    c.header("Content-Type", "application/json");
    return c.body(body, 200);
  }

  /** The kept answer, if it is of the newest block. */
  async function findKept(key: string): Promise<Answer<never> | undefined> {
    const kept = cache.get(key);
    if (!kept) return undefined;
    // Without the newest block there is no answer either: the read reports why.
    const head = newest.fresh() ?? (await newest.get().catch(() => undefined));
    return kept.asOf.hash === head?.hash ? { ...kept, key } : undefined;
  }

  return {
    define<Params, Rows, Body>(read: Read<Params, Rows>, shape: Shape<Params, Rows, Body>) {
      const running = new Map<string, Running<Body>>();
      defined += 1;
      const route = defined;

      async function make(key: string, params: Params): Promise<Answer<Body>> {
        const begun = performance.now();
        const { asOf, value } = await read(params);
        newest.learn(asOf, begun);
        const shaped = await shape(value, params, asOf);
        const body = shaped instanceof JsonText ? shaped.bytes : jsonBody(JSON.stringify(shaped));
        return { key, asOf, tag: `"${digest(body)}"`, body };
      }

      return async (params: Params) => {
        const key = `${route} ${textOf(params)}`;
        const kept = await findKept(key);
        if (kept) {
          onAnswer("cache");
          return kept;
        }
        // A request may not join a read that began at an older block than the client may have seen.
        const reading = `${newest.known()?.hash} ${key}`;
        const joined = running.get(reading)?.answer;
        onAnswer(joined ? "shared" : "database");
        if (joined) return joined;
        const made: Running<Body> = { answer: undefined };
        made.answer = make(key, params).finally(() => {
          made.answer = undefined;
          running.delete(reading);
        });
        running.set(reading, made);
        return made.answer;
      };
    },
    send,
    sendPrivately,
  };
}
