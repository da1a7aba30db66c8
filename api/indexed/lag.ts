import type { ChainReads } from "../chain/chain-reads.ts";
import type { IndexReaderParts } from "./reader.ts";
import { indexerStatus, readIndexPosition } from "./status.ts";

/**
 * Blocks between the chain's head and what reads of the index see.
 * @throws ApiError while database, index or node is away
 */
export async function readIndexLag(
  parts: IndexReaderParts,
  chain: Pick<ChainReads, "recentHead">,
): Promise<bigint> {
  const [position, head] = await Promise.all([readIndexPosition(parts), chain.recentHead()]);
  return indexerStatus(position, head).lagBlocks;
}
