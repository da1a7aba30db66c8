import type { Block, Chain } from "./chain.ts";

/** A node that has not answered a question for its head for so long counts as away, in ms. */
const SILENT_MS = 20_000;

/**
 * Asks for the chain's head, and knows by it whether the chain answers: by that alone, so that trouble with Postgres, or
 * with what the blocks hold, never looks like a chain that is away.
 */
export function createHead(chain: Pick<Chain, "block">, silentMs = SILENT_MS) {
  let askedAt: number | undefined;
  return {
    /** The newest block. Rejects when the node does not answer. */
    async read(): Promise<Block> {
      askedAt ??= performance.now();
      const head = await chain.block("latest");
      if (!head) throw new Error("the node has no latest block");
      askedAt = undefined;
      return head;
    },
    /** False once the node has left questions without an answer for long. */
    answers: (): boolean => askedAt === undefined || performance.now() - askedAt < silentMs,
  };
}

export type Head = ReturnType<typeof createHead>;
