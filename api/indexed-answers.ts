/** Answers out of the index: each is of one block, is kept while that block is the newest, and can be asked for again by its tag. */
import { createHash } from "node:crypto";
import type { Context } from "hono";
import type { TypedResponse } from "hono/types";
import { createNewestHead } from "./newest-head.ts";
import type { AsOf } from "./policy.ts";
import type { IndexQuery, IndexReader } from "./queries/index-reader.ts";

/** The JSON text of a body of type `Body`. */
type JsonText<Body> = { readonly text: string; readonly of?: Body };
type Answer<Body> = { readonly asOf: AsOf; readonly tag: string; readonly body: JsonText<Body> };

/** Reads what an answer needs, in the snapshot whose head is `asOf`. */
type Read<Params, Rows> = (db: IndexQuery, params: Params, asOf: AsOf) => Promise<Rows>;
/** Makes the body out of it, once the snapshot is closed. */
type Shape<Params, Rows, Body> = (rows: Rows, params: Params, asOf: AsOf) => Body | Promise<Body>;

export type IndexedAnswers = {
  /**
   * Makes the answers of one route. Callers who ask the same of the same block share one read.
   * @throws what `IndexReader.read` and the two functions throw
   */
  of<Params, Rows, Body>(
    read: Read<Params, Rows>,
    shape: Shape<Params, Rows, Body>,
  ): (params: Params) => Promise<Answer<Body>>;
};

/** Characters of the answers that one route keeps: clients choose the parameters, so they must have a bound. */
const KEPT_LENGTH = 8_000_000;

/** Bodies are strings, numbers and booleans; parameters may hold the positions of cursors. */
const keyOf = (params: unknown) =>
  JSON.stringify(params, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));

const digest = (text: string) => createHash("sha1").update(text).digest("base64url").slice(0, 16);

/** The answers of one block, by their parameters. */
class Kept<Answer> {
  #hash = "";
  #length = 0;
  readonly #answers = new Map<string, Promise<Answer>>();

  find(hash: string, key: string): Promise<Answer> | undefined {
    return hash === this.#hash ? this.#answers.get(key) : undefined;
  }

  /** Keeps an answer that is on its way, unless it fails. */
  keep(hash: string, key: string, answer: Promise<Answer>, lengthOf: (answer: Answer) => number): void {
    if (hash !== this.#hash || this.#length > KEPT_LENGTH) {
      this.#answers.clear();
      this.#length = 0;
      this.#hash = hash;
    }
    this.#answers.set(key, answer);
    answer.then(
      (done) => {
        if (hash === this.#hash) this.#length += lengthOf(done);
      },
      () => {
        if (this.#answers.get(key) === answer) this.#answers.delete(key);
      },
    );
  }
}

export function createIndexedAnswers(index: IndexReader): IndexedAnswers {
  const newest = createNewestHead(index);

  return {
    of<Params, Rows, Body>(read: Read<Params, Rows>, shape: Shape<Params, Rows, Body>) {
      const kept = new Kept<Answer<Body>>();

      async function make(params: Params): Promise<Answer<Body>> {
        const begun = performance.now();
        const { asOf, value } = await index.read((db, head) => read(db, params, head));
        newest.learn(asOf, begun);
        const text = JSON.stringify(await shape(value, params, asOf));
        return { asOf, tag: `"${asOf.hash.slice(2, 18)}-${digest(text)}"`, body: { text } };
      }

      return async (params: Params) => {
        const { hash } = await newest.get();
        const key = keyOf(params);
        const found = kept.find(hash, key);
        if (found) return found;
        // Its snapshot can be newer than `hash`: then it is the newest one there is, and right to answer with.
        const answer = make(params);
        kept.keep(hash, key, answer, ({ body }) => body.text.length + key.length);
        return answer;
      };
    },
  };
}

/** Whether a client has the answer already (RFC 9110, 13.1.2: tags are compared weakly). */
function hasTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((part) => {
    const known = part.trim();
    return known === "*" || known === tag || known === `W/${tag}`;
  });
}

/** Sends an answer, or 304 to a client that has it. It may be stored, and must be asked for again each time. */
export function sendIndexed<Body>(
  c: Context,
  answer: Answer<Body>,
): Response & TypedResponse<Body, 200, "json">;
export function sendIndexed(c: Context, { asOf, tag, body }: Answer<unknown>): Response {
  c.header("x-indexed-block", String(asOf.number));
  c.header("ETag", tag);
  c.header("Cache-Control", "public, no-cache");
  if (hasTag(c.req.header("if-none-match"), tag)) return c.body(null, 304);
  c.header("Content-Type", "application/json");
  return c.body(body.text, 200);
}
