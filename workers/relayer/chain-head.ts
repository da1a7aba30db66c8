import type { Block, Chain } from "./chain.ts";

/** A node that has not answered a request for its head within this time counts as down, in ms. */
const TIMEOUT_MS = 20_000;

/**
 * Reads the chain's head, and derives from those requests alone whether the node answers: a fault of Postgres, or in a
 * block's content, must never look like a node that is down.
 */
export function createChainHead(chain: Pick<Chain, "block">, timeoutMs = TIMEOUT_MS) {
  let unansweredSince: number | undefined;
  let newest: bigint | undefined;
  return {
    /** The newest block. Rejects when the node does not answer. */
    async read(): Promise<Block> {
      unansweredSince ??= performance.now();
      const head = await chain.block("latest");
      if (!head) throw new Error("the node has no latest block");
      unansweredSince = undefined;
      newest = head.number;
      return head;
    },
    /** The height of the head that was read last; undefined before the first. */
    height: (): bigint | undefined => newest,
    /** False once requests have had no answer for `timeoutMs`. */
    isNodeAnswering: (): boolean =>
      unansweredSince === undefined || performance.now() - unansweredSince < timeoutMs,
  };
}

export type ChainHead = ReturnType<typeof createChainHead>;
