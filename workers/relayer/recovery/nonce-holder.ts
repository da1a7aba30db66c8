import type { Address, Hex } from "viem";
import type { Chain } from "../chain.ts";

/** How many blocks back the search for a used nonce goes; a node without those states ends it sooner. */
const MAX_DEPTH = 100_000n;

/**
 * Finds the transaction that used a nonce of a wallet, and its block, by reading the wallet's nonce at older blocks.
 * Undefined when the nonce is free or the search went back too far; rejects when the node does not answer, or does not
 * have a block's state.
 */
export async function findNonceHolder(
  chain: Pick<Chain, "nonce" | "senders">,
  wallet: Address,
  nonce: number,
  head: bigint,
): Promise<{ hash: Hex; blockNumber: bigint } | undefined> {
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
  const senders = await chain.senders(used);
  const holder = senders.find((tx) => tx.nonce === nonce && tx.from.toLowerCase() === wallet.toLowerCase());
  return holder && { hash: holder.hash, blockNumber: used };
}
