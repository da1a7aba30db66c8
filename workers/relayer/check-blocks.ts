import { confirmBlocks, dropBlocks, raiseWatermarks, settlingBlocks } from "../ledger/outcomes.ts";
import type { Block } from "./chain.ts";
import type { ChainContext } from "./chain-context.ts";

export type ConfirmContext = Pick<ChainContext, "sql" | "chain" | "chainId" | "log"> & {
  /** How deep a block must lie for its outcomes to be final; 0 is the head. */
  confirmations: number;
};

/**
 * Compares the blocks that settled transactions with the chain's blocks at the same heights: those that are not final, and
 * after a reorganisation also final ones. An unchanged block that lies deep enough makes its outcomes final; those of a
 * replaced block are open again. One request per block, not per transaction.
 *
 * @returns whether transactions fell out of the chain, so that their bytes are to be sent again.
 */
export async function checkBlocks(
  { sql, chain, chainId, confirmations, log }: ConfirmContext,
  head: Pick<Block, "number">,
  reorganised: boolean,
): Promise<boolean> {
  const deep = head.number - BigInt(confirmations);
  const settling = await settlingBlocks(sql, chainId, reorganised ? head.number : deep, {
    final: reorganised,
  });
  const current = await Promise.all(settling.map(({ number }) => chain.block(number)));
  // A node without a block at this height proves nothing about it.
  const known = settling.flatMap((block, index) => {
    const now = current[index];
    return now ? [{ ...block, stays: now.hash === block.hash }] : [];
  });
  const dropped = await dropBlocks(
    sql,
    chainId,
    known.filter(({ stays }) => !stays),
  );
  if (dropped.length > 0)
    log.warn({ hashes: dropped }, "transactions fell out of the chain with their blocks");
  const confirmed = known.filter(({ stays, number }) => stays && number <= deep);
  await confirmBlocks(sql, chainId, confirmed);
  await raiseWatermarks(sql, chainId, deep);
  return dropped.length > 0;
}
