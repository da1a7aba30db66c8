/** Answers out of the index: each is of one block, and can be asked for again by its tag. */
import { createHash } from "node:crypto";
import type { Context } from "hono";
import type { TypedResponse } from "hono/types";
import type { AsOf } from "../policies/body.ts";
import type { NewestHead } from "./newest-head.ts";
import { hasTag, indexedHeaders, type KeptAnswers } from "./response-cache.ts";

/** An answer with the JSON text of a body of type `Body`. */
type Answer<Body> = { readonly asOf: AsOf; readonly tag: string; readonly text: string; readonly of?: Body };

/** Reads what an answer needs, all of it at one moment. */
type Read<Params, Rows> = (params: Params) => Promise<{ asOf: AsOf; value: Rows }>;
/** Makes the body out of it. */
type Shape<Params, Rows, Body> = (rows: Rows, params: Params, asOf: AsOf) => Body | Promise<Body>;

export type IndexedAnswers = {
  /**
   * Makes the answers of one route. Callers who ask the same at the same time share one read.
   * @throws what the two functions throw
   */
  of<Params, Rows, Body>(
    read: Read<Params, Rows>,
    shape: Shape<Params, Rows, Body>,
  ): (params: Params) => Promise<Answer<Body>>;
  /** Sends an answer, or 304 to a client that has it, and keeps it for whoever asks next. */
  send<Body>(c: Context, answer: Answer<Body>): Response & TypedResponse<Body, 200, "json">;
  /** Sends an answer to a key's holder, and keeps it for nobody: what is kept is given out before anybody asks for a key. */
  sendPrivately<Body>(c: Context, answer: Answer<Body>): Response & TypedResponse<Body, 200, "json">;
};

/** The parameters as text; they may hold the positions of cursors. */
const keyOf = (params: unknown) =>
  JSON.stringify(params, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));

const digest = (text: string) => createHash("sha1").update(text).digest("base64url").slice(0, 16);

/** Path and query of a request, as they came. */
function addressOf({ req: { url } }: Context): string {
  const begin = url.indexOf("/", url.indexOf("//") + 2);
  return url.slice(begin);
}

export function createIndexedAnswers(newest: NewestHead, kept: KeptAnswers): IndexedAnswers {
  function send<Body>(c: Context, answer: Answer<Body>): Response & TypedResponse<Body, 200, "json">;
  function send(c: Context, { asOf, tag, text }: Answer<unknown>): Response {
    const { hash: blockHash, number: blockNumber } = asOf;
    kept.keep(addressOf(c), { blockHash, blockNumber, tag, text });
    for (const [name, value] of indexedHeaders({ blockNumber, tag })) c.header(name, value);
    if (hasTag(c.req.header("if-none-match"), tag)) return c.body(null, 304);
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
    of<Params, Rows, Body>(read: Read<Params, Rows>, shape: Shape<Params, Rows, Body>) {
      const underWay = new Map<string, Promise<Answer<Body>>>();

      async function make(params: Params): Promise<Answer<Body>> {
        const begun = performance.now();
        const { asOf, value } = await read(params);
        newest.learn(asOf, begun);
        const text = JSON.stringify(await shape(value, params, asOf));
        return { asOf, tag: `"${asOf.hash.slice(2, 18)}-${digest(text)}"`, text };
      }

      return async (params: Params) => {
        // Nobody may join a read that was begun at an older block than this client may have seen.
        const key = `${newest.known()?.hash} ${keyOf(params)}`;
        const joined = underWay.get(key);
        if (joined) return joined;
        const answer = make(params).finally(() => underWay.delete(key));
        underWay.set(key, answer);
        return answer;
      };
    },
    send,
    sendPrivately,
  };
}
