import type { Hex } from "viem";
import type { StandingHeaders } from "../http/common-headers.ts";

/** An answer out of the index as the client gets it, and the block that it is of. */
export type KeptAnswer = {
  readonly blockHash: Hex;
  readonly tag: string;
  /** Names and values by turns, without those that differ from request to request. */
  readonly headers: readonly string[];
  readonly body: Buffer;
};

/** The answers of the newest block by their address. A new block's first answer takes the place of them all. */
export type KeptAnswers = {
  find(address: string): KeptAnswer | undefined;
  keep(address: string, answer: { blockHash: Hex; blockNumber: bigint; tag: string; text: string }): void;
};

/** Bytes that are kept at most: clients choose the addresses, so their number must have a bound. */
const MAX_BYTES = 32 * 1024 * 1024;
/** About what an answer takes beside its body. */
const BYTES_BESIDE = 2048;

/** The headers that tell what an answer out of the index is: it may be stored, and must be asked for again each time. */
export const indexedHeaders = ({ blockNumber, tag }: { blockNumber: bigint; tag: string }) =>
  [
    ["ETag", tag],
    ["Cache-Control", "public, no-cache"],
    ["x-indexed-block", String(blockNumber)],
  ] as const;

/** Whether a client has the answer already (RFC 9110, 13.1.2: tags are compared weakly). */
export function hasTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((part) => {
    const known = part.trim();
    return known === "*" || known === tag || known === `W/${tag}`;
  });
}

export function createKeptAnswers(standing: StandingHeaders): KeptAnswers {
  const answers = new Map<string, KeptAnswer>();
  let newest: Hex | undefined;
  let bytes = 0;

  return {
    find: (address) => answers.get(address),
    keep(address, { blockHash, blockNumber, tag, text }) {
      const body = Buffer.from(text);
      const size = body.length + address.length + BYTES_BESIDE;
      if (blockHash !== newest || bytes + size > MAX_BYTES) {
        answers.clear();
        bytes = 0;
        newest = blockHash;
      }
      if (!answers.has(address)) bytes += size;
      const headers = [...standing, ...indexedHeaders({ blockNumber, tag })].flat();
      answers.set(address, { blockHash, tag, headers, body });
    },
  };
}
