import type { Address } from "viem";
import { isAnvil } from "../../../lib/chain/client.ts";
import type { Block, Chain } from "../chain.ts";

/** A node that is behind lacks transactions that the chain has: what it lacks counts only at a head that is late enough. */
export type HeadChain = Pick<Chain, "client" | "block" | "nonce">;

/** In ms. After it an anvil's head counts as it is: one that mines nothing, or whose clock is not the real one, may show no later one. */
const ANVIL_WAIT_MS = 5000;

/**
 * The node's head, if its block is later than `since`, by `performance.now()`: it shows all that was in a block then. Undefined
 * while the node may be behind, however long that takes, unless the chain is a local one.
 */
export async function laterHead(chain: HeadChain, since: number): Promise<Block | undefined> {
  const head = await chain.block("latest");
  if (!head) return undefined;
  const waited = performance.now() - since;
  if (Number(head.timestamp) * 1000 > Date.now() - waited) return head;
  // A node that does not say what it is counts as one of a real chain.
  const isLocal = waited >= ANVIL_WAIT_MS && (await isAnvil(chain.client).catch(() => false));
  return isLocal ? head : undefined;
}

/** The wallet's count of transactions in the blocks up to `at`, or with those in the node's pool, if that is higher. */
export async function countAt(
  chain: Pick<Chain, "nonce">,
  wallet: Address,
  at: bigint | "latest",
): Promise<number> {
  return Math.max(...(await Promise.all([chain.nonce(wallet, at), chain.nonce(wallet, "pending")])));
}
