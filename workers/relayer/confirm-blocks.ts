import { confirmBlock, dropBlock, unconfirmedBlocks } from "../ledger/outcomes.ts";
import type { Block } from "./chain.ts";
import type { ChainContext } from "./chain-context.ts";

export type ConfirmContext = Pick<ChainContext, "sql" | "chain" | "chainId" | "log"> & {
  /** How deep a block must lie for its outcomes to be final; 0 is the head. */
  confirmations: number;
};

/**
 * Compares the blocks that settled purchases, and are not final, with the chain's blocks at the same heights. An
 * unchanged block that lies deep enough makes its purchases final; a replaced block puts them back to `broadcast`. One
 * request per block, not per purchase.
 *
 * @returns whether purchases fell out of the chain, so that their bytes are to be sent again.
 */
export async function confirmBlocks(
  { sql, chain, chainId, confirmations, log }: ConfirmContext,
  head: Pick<Block, "number">,
  reorganised: boolean,
): Promise<boolean> {
  const deep = head.number - BigInt(confirmations);
  const settling = await unconfirmedBlocks(sql, chainId, reorganised ? head.number : deep);
  const current = await Promise.all(settling.map(({ number }) => chain.block(number)));
  let dropped = 0;
  for (const [index, block] of settling.entries()) {
    // A node without a block at this height proves nothing about it.
    const now = current[index];
    if (!now) continue;
    if (now.hash !== block.hash) {
      const ids = await dropBlock(sql, chainId, block);
      dropped += ids.length;
      log.warn(
        { block: String(block.number), purchases: ids },
        "purchases fell out of the chain with their block",
      );
    } else if (block.number <= deep) {
      await confirmBlock(sql, chainId, block);
    }
  }
  return dropped > 0;
}
