import { LRUCache } from "lru-cache";
import type { Hex } from "viem";
import type { CommonHeaders } from "../http/common-headers.ts";

/** A cached response of the index, and its block. */
export type CachedResponse = {
  readonly blockHash: Hex;
  readonly tag: string;
  /** Names and values in turn, without the headers that differ between requests. */
  readonly headers: readonly string[];
  readonly body: Buffer;
};

/** The responses of the newest block, by URL. The first response of a new block clears the others. */
export type ResponseCache = {
  find(url: string): CachedResponse | undefined;
  store(url: string, response: { blockHash: Hex; blockNumber: bigint; tag: string; text: string }): void;
};

/** Total size in bytes: clients choose the URLs, so their number must be limited. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Size of an entry beside its body, roughly. */
const ENTRY_BYTES = 2048;

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

export function createResponseCache(commonHeaders: CommonHeaders): ResponseCache {
  const responses = new LRUCache<string, CachedResponse>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ body }, url) => body.length + url.length + ENTRY_BYTES,
  });
  let newest: Hex | undefined;

  return {
    find: (url) => responses.get(url),
    store(url, { blockHash, blockNumber, tag, text }) {
      if (blockHash !== newest) {
        responses.clear();
        newest = blockHash;
      }
      const headers = [...commonHeaders, ...indexedHeaders({ blockNumber, tag })].flat();
      responses.set(url, { blockHash, tag, headers, body: Buffer.from(text) });
    },
  };
}
