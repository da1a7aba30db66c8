import type { Sql } from "postgres";
import type { Logger } from "../../lib/log.ts";
import { confirmBlock, dropBlock, unconfirmedBlocks } from "../ledger/settled.ts";
import type { Block, Chain } from "./chain.ts";

export type ConfirmOptions = {
  sql: Sql;
  chain: Pick<Chain, "block">;
  chainId: number;
  /** How deep a block must lie for what it settled to be final; 0 is the head. */
  confirmations: number;
  log: Logger;
};

/**
 * Mined is not final: asks again which block stands at each height by which purchases were settled. One that still
 * stands deep enough makes them final; one that was replaced puts them back on their way. One call per block, not per
 * purchase.
 *
 * @returns whether purchases fell out of the chain, so that their bytes are to be sent again.
 */
export function createConfirmer({ sql, chain, chainId, confirmations, log }: ConfirmOptions) {
  return async function confirm(head: Pick<Block, "number">, reorganised: boolean): Promise<boolean> {
    const deep = head.number - BigInt(confirmations);
    const relied = await unconfirmedBlocks(sql, chainId, reorganised ? head.number : deep);
    const standing = await Promise.all(relied.map(({ number }) => chain.block(number)));
    let dropped = 0;
    for (const [index, block] of relied.entries()) {
      // A node that has no block at this height says nothing about it.
      const now = standing[index];
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
  };
}
