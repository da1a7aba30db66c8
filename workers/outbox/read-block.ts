import { type Hex, hexToBigInt, isHex, numberToHex } from "viem";
import { createReadClient } from "../../lib/chain/client.ts";
import type { Deployment } from "../../lib/deployments.ts";
import type { Block } from "./event.ts";

/** Timeout of a block request, in ms. It is short because the events of other blocks wait for the answer. */
const TIMEOUT_MS = 2000;

/**
 * Reads the chain's block at a height. Requests of one tick share one HTTP request. Resolves to undefined when the node has
 * no block at that height; rejects when the node does not answer.
 */
export type ReadBlock = (number: bigint) => Promise<ChainBlock | undefined>;

/** A block as the node shows it. */
export type ChainBlock = Block & { readonly parentHash: Hex };

/** Reads blocks of a chain from one node. */
export function createBlockReader(
  deployment: Pick<Deployment, "chainId" | "name">,
  rpcUrl: string,
): ReadBlock {
  const client = createReadClient(deployment, rpcUrl, { timeout: TIMEOUT_MS, retryCount: 0 });
  return async (number) => {
    const block = await client.request({
      method: "eth_getBlockByNumber",
      params: [numberToHex(number), false],
    });
    if (block === null || !isHex(block.hash)) return undefined;
    const { hash, parentHash } = block;
    return { number, hash, parentHash, timestamp: hexToBigInt(block.timestamp) };
  };
}

/** Asks for each height once, so that every check of a run sees the same block there. */
export function readEachBlockOnce(readBlock: ReadBlock): ReadBlock {
  const blocks = new Map<bigint, ReturnType<ReadBlock>>();
  return (number) => {
    const block = blocks.get(number) ?? readBlock(number);
    blocks.set(number, block);
    return block;
  };
}

/**
 * Finds the first block with a timestamp after `time` by a binary search between `low` (the height of a block at or before
 * `time`) and `high` (a block after it). The search starts near `high`, where the block nearly always is. Undefined when the
 * node lacks a block; rejects when the node does not answer.
 */
export async function firstBlockAfter(
  time: bigint,
  low: bigint,
  high: Block,
  readBlock: (number: bigint) => Promise<Block | undefined>,
): Promise<Block | undefined> {
  let [below, above, step, found] = [low, high, 1n, false];
  while (above.number - below > 1n) {
    const half = (above.number - below) / 2n;
    const middle = await readBlock(above.number - (found || step > half ? half : step));
    if (!middle) return undefined;
    if (middle.timestamp > time) above = middle;
    else [below, found] = [middle.number, true];
    step *= 2n;
  }
  return above;
}
