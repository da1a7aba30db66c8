/** Answers of the index, kept while their block is the newest. */
import { LRUCache } from "lru-cache";
import type { AsOf } from "../chain/block.ts";
import type { CommonHeaders } from "../http/common-headers.ts";

/** The JSON of an answer, and its block. */
export type KeptAnswer = {
  readonly asOf: AsOf;
  readonly tag: string;
  readonly body: JsonBody;
};

/** JSON as it is sent: a string only if it is short and ASCII. */
export type JsonBody = string | Buffer<ArrayBuffer>;

/** A kept answer as a response. */
export type CachedResponse = KeptAnswer & {
  /** The route that made it, as the routing table has it. */
  readonly route: string;
  /** Names and values in turn, without those that differ between requests: of a 304, and of the whole response. */
  readonly headers: readonly string[];
  readonly contentHeaders: readonly string[];
};

/**
 * Answers by their key: the route and its validated parameters. Different addresses lead to one answer if they differ only in
 * the order or the spelling of parameters, or in parameters that the route does not know. What was used least recently
 * goes first.
 */
export type ResponseCache = {
  /** The last answer of this address, maybe of an older block. */
  atAddress(url: string): CachedResponse | undefined;
  /** The last answer with this key, maybe of an older block. */
  get(key: string): KeptAnswer | undefined;
  /**
   * Keeps the answer if its key was asked for before, also at an older block. Most pages of a list are asked for once: kept, they
   * would push out the answers that many ask for, and the garbage collection would take more of the process's time.
   */
  store(url: string, key: string, answer: KeptAnswer & { readonly route: string }): void;
};

/** Total size of the answers, and of the addresses, in bytes: clients choose both, so their number must be limited. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_ADDRESS_BYTES = 4 * 1024 * 1024;
/** Number of keys, the last ones, that count as asked for beside those of kept answers. */
const MAX_ASKED = 20_000;
/** Size of an answer beside its text, and of an address beside its text, roughly. */
const ENTRY_BYTES = 2048;
const ADDRESS_BYTES = 256;

/** Longest body that is sent as a string, together with the headers. Node copies a longer one several times, and bytes never. */
const MAX_STRING = 16 * 1024;

/** The body for this JSON. */
export function jsonBody(text: string): JsonBody {
  const isShortAscii = text.length <= MAX_STRING && Buffer.byteLength(text) === text.length;
  return isShortAscii ? text : Buffer.from(text);
}

/** The headers of an indexed response: it may be stored, and must be revalidated each time. */
export const indexedHeaders = ({ blockNumber, tag }: { blockNumber: bigint; tag: string }) =>
  [
    ["ETag", tag],
    ["Cache-Control", "public, no-cache"],
    ["Vary", "Accept"],
    ["x-indexed-block", String(blockNumber)],
  ] as const;

/** True when `If-None-Match` contains the tag (RFC 9110, 13.1.2: tags are compared weakly). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((part) => {
    const known = part.trim();
    return known === "*" || known === tag || known === `W/${tag}`;
  });
}

export function createResponseCache(
  commonHeaders: CommonHeaders,
  { maxBytes = MAX_BYTES }: { maxBytes?: number } = {},
): ResponseCache {
  const answers = new LRUCache<string, CachedResponse>({
    maxSize: maxBytes,
    sizeCalculation: ({ body }, key) => body.length + key.length + ENTRY_BYTES,
  });
  const keys = new LRUCache<string, string>({
    maxSize: MAX_ADDRESS_BYTES,
    sizeCalculation: (key, url) => key.length + url.length + ADDRESS_BYTES,
  });
  const asked = new LRUCache<string, true>({ max: MAX_ASKED });

  return {
    atAddress(url) {
      const key = keys.get(url);
      return key === undefined ? undefined : answers.get(key);
    },
    get: (key) => answers.get(key),
    store(url, key, answer) {
      const wasAsked = asked.has(key) || answers.has(key);
      asked.set(key, true);
      if (!wasAsked) return;
      keys.set(url, key);
      if (answers.peek(key)?.asOf.hash === answer.asOf.hash) return;
      const { asOf, tag, body, route } = answer;
      const content = ["Content-Type", "application/json", "Content-Length", String(body.length)];
      const headers = [...commonHeaders, ...indexedHeaders({ blockNumber: asOf.number, tag })].flat();
      answers.set(key, { asOf, tag, route, headers, contentHeaders: [...headers, ...content], body });
    },
  };
}
