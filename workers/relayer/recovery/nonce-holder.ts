import type { Address } from "viem";
import type { Chain } from "../chain.ts";
import type { SentTransaction } from "../sent-transaction.ts";

/** How many blocks back the search for a used nonce goes; a node without those states ends it sooner. */
const MAX_DEPTH = 100_000n;

/** A transaction that used a nonce, with its block. */
export type NonceHolder = SentTransaction & { blockNumber: bigint };

/**
 * Finds the transaction that used a nonce of a wallet, and its block, by reading the wallet's nonce at older blocks.
 * Undefined when the nonce is free or the search went back too far; rejects when the node does not answer, or does not
 * have a block's state.
 */
export async function findNonceHolder(
  chain: Pick<Chain, "nonce" | "transactions">,
  wallet: Address,
  nonce: number,
  head: bigint,
): Promise<NonceHolder | undefined> {
  const isUsedAt = async (block: bigint) => (await chain.nonce(wallet, block)) > nonce;
  if (!(await isUsedAt(head))) return undefined;

  let used = head;
  let step = 1n;
  let free = head - step;
  while (free >= 0n && (await isUsedAt(free))) {
    used = free;
    step *= 2n;
    if (step > MAX_DEPTH) return undefined;
    free = used - step;
  }
  if (free < 0n) free = -1n;
  while (used - free > 1n) {
    const middle = (used + free) / 2n;
    if (await isUsedAt(middle)) used = middle;
    else free = middle;
  }
  const holder = (await chain.transactions(used)).find((tx) => tx.nonce === nonce && tx.from === wallet);
  return holder && { ...holder, blockNumber: used };
}
