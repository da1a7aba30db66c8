/** Responses from the index: each describes one block, and can be revalidated by its tag. */
import { createHash } from "node:crypto";
import type { Context } from "hono";
import type { TypedResponse } from "hono/types";
import type { AsOf } from "../chain/block.ts";
import type { ApiEnv } from "../http/env.ts";
import type { AnswerSource } from "../http/request-metrics.ts";
import { csvTable, csvText, type JsonRoute, nextPage } from "./csv.ts";
import { indexAge } from "./index-age.ts";
import type { NewestHead } from "./newest-head.ts";
import { prefersCsv } from "./prefers-csv.ts";

/** The JSON text of a body of type `Body`, its block and its tag. */
type Answer<Body> = {
  readonly asOf: AsOf;
  readonly tag: string;
  readonly body: string;
  readonly of?: Body;
};

/** An answer with its route, which has the columns of its table. */
export type IndexedAnswer = Answer<unknown> & { readonly route: JsonRoute };

/** `indexed` is the answer that a route has sent by {@link IndexedResponses.send}. */
export type IndexedEnv = ApiEnv & { Variables: { indexed?: IndexedAnswer } };

/** Reads the rows of an answer in one snapshot. */
type Read<Params, Rows> = (params: Params) => Promise<{ asOf: AsOf; value: Rows }>;
/** Makes the body from the rows. */
type Shape<Params, Rows, Body> = (rows: Rows, params: Params, asOf: AsOf) => Body | Promise<Body>;

export type IndexedResponses = {
  /**
   * Defines the answers of one route. Simultaneous requests with the same validated parameters share one read.
   * @throws the errors of the two functions
   */
  define<Params, Rows, Body>(
    read: Read<Params, Rows>,
    shape: Shape<Params, Rows, Body>,
  ): (params: Params) => Promise<Answer<Body>>;
  /** Sends an answer ({@link responseParts}), and leaves it to the cache. */
  send<Body>(c: Context, answer: Answer<Body>, route: JsonRoute): Response & TypedResponse<Body, 200, "json">;
  /** Sends an answer to a key's holder: nothing keeps it, because the cache does not ask for a key. */
  sendPrivately<Body>(c: Context, answer: Answer<Body>): Response & TypedResponse<Body, 200, "json">;
};

/** Validated parameters as text, in the order of their schema; they may contain `bigint`s of cursors. */
const textOf = (params: unknown) =>
  JSON.stringify(params, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));

const tagOf = (body: string) => `"${createHash("sha1").update(body).digest("base64url").slice(0, 16)}"`;

/** True when `If-None-Match` contains the tag (RFC 9110, 13.1.2: tags are compared weakly). */
function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((part) => {
    const known = part.trim();
    return known === "*" || known === tag || known === `W/${tag}`;
  });
}

/**
 * The response of an answer: without a body, a 304, when the client has it. A client that prefers `text/csv` gets its table, with the next page in
 * the header `Link`.
 */
export function responseParts(
  c: Context,
  { asOf, tag: jsonTag, body, route }: IndexedAnswer,
): { headers: Record<string, string>; body: string | null } {
  const isCsv = prefersCsv(c.req.header("accept"));
  const tag = isCsv ? `${jsonTag.slice(0, -1)}-csv"` : jsonTag;
  const headers: Record<string, string> = {
    ETag: tag,
    // It may be stored, and must be revalidated each time.
    "Cache-Control": "public, no-cache",
    Vary: "Accept",
    "x-indexed-block": String(asOf.number),
    "x-index-age": indexAge(asOf),
  };
  const next = isCsv ? nextPage(c.req.url, body) : undefined;
  if (next !== undefined) headers.Link = `<${next}>; rel="next"`;
  if (matchesTag(c.req.header("if-none-match"), tag)) return { headers, body: null };
  headers["Content-Type"] = isCsv ? "text/csv; charset=utf-8" : "application/json";
  if (!isCsv) return { headers, body };
  const { schema } = route.responses[200].content["application/json"];
  return { headers, body: csvText(csvTable(schema), body) };
}

/** @param onAnswer hears where each answer came from. */
export function createIndexedResponses(
  newest: NewestHead,
  onAnswer: (source: AnswerSource) => void = () => {},
): IndexedResponses {
  function send<Body>(
    c: Context,
    answer: Answer<Body>,
    route: JsonRoute,
  ): Response & TypedResponse<Body, 200, "json">;
  function send(c: Context, answer: Answer<unknown>, route: JsonRoute): Response {
    const indexed = { ...answer, route };
    c.set("indexed", indexed);
    const { headers, body } = responseParts(c, indexed);
    return body === null ? c.body(null, 304, headers) : c.body(body, 200, headers);
  }

  function sendPrivately<Body>(c: Context, answer: Answer<Body>): Response & TypedResponse<Body, 200, "json">;
  function sendPrivately(c: Context, { asOf, body }: Answer<unknown>): Response {
    c.header("x-indexed-block", String(asOf.number));
    c.header("x-index-age", indexAge(asOf));
    c.header("Cache-Control", "no-store");
    c.header("Content-Type", "application/json");
    return c.body(body, 200);
  }

  return {
    define<Params, Rows, Body>(read: Read<Params, Rows>, shape: Shape<Params, Rows, Body>) {
      const running = new Map<string, Promise<Answer<Body>>>();

      async function make(params: Params): Promise<Answer<Body>> {
        const begun = performance.now();
        const { asOf, value } = await read(params);
        newest.learn(asOf, begun);
        const body = JSON.stringify(await shape(value, params, asOf));
        return { asOf, tag: tagOf(body), body };
      }

      return async (params: Params) => {
        // A request may not join a read that began at an older block than the client may have seen.
        const reading = `${newest.known()?.hash} ${textOf(params)}`;
        const joined = running.get(reading);
        onAnswer(joined ? "shared" : "database");
        if (joined) return joined;
        const made = make(params).finally(() => running.delete(reading));
        running.set(reading, made);
        return made;
      };
    },
    send,
    sendPrivately,
  };
}
