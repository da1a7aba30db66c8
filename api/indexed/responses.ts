/** Responses from the index: each describes one block, and can be revalidated by its tag. */
import { createHash } from "node:crypto";
import type { Context } from "hono";
import type { TypedResponse } from "hono/types";
import type { AsOf } from "../chain/block.ts";
import { JsonText } from "./json-text.ts";
import type { NewestHead } from "./newest-head.ts";
import { indexedHeaders, matchesTag, type ResponseCache } from "./response-cache.ts";

/** The JSON text of a body of type `Body`. */
type Answer<Body> = { readonly asOf: AsOf; readonly tag: string; readonly text: string; readonly of?: Body };

/** Reads the rows of an answer in one snapshot. */
type Read<Params, Rows> = (params: Params) => Promise<{ asOf: AsOf; value: Rows }>;
/** A body, or its JSON where Postgres has written it. */
type Shaped<Body> = Body | JsonText<Body>;
/** Makes the body from the rows. */
type Shape<Params, Rows, Body> = (rows: Rows, params: Params, asOf: AsOf) => Shaped<Body> | Promise<Shaped<Body>>;

export type IndexedResponses = {
  /**
   * Defines the answers of one route. Concurrent requests with the same parameters share one read.
   * @throws the errors of the two functions
   */
  define<Params, Rows, Body>(
    read: Read<Params, Rows>,
    shape: Shape<Params, Rows, Body>,
  ): (params: Params) => Promise<Answer<Body>>;
  /** Sends an answer, or 304 when the client has it, and caches it. */
  send<Body>(c: Context, answer: Answer<Body>): Response & TypedResponse<Body, 200, "json">;
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

export function createIndexedResponses(newest: NewestHead, cache: ResponseCache): IndexedResponses {
  function send<Body>(c: Context, answer: Answer<Body>): Response & TypedResponse<Body, 200, "json">;
  function send(c: Context, { asOf, tag, text }: Answer<unknown>): Response {
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
        const body = await shape(value, params, asOf);
        const text = body instanceof JsonText ? body.text : JSON.stringify(body);
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
