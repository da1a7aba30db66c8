import { hexToBigInt, isHex, numberToHex } from "viem";
import { createReadClient } from "../../lib/chain/client.ts";
import type { Deployment } from "../../lib/deployments.ts";
import type { Block } from "./event.ts";

/** A node that takes longer, in ms, has not answered: events of other blocks wait behind the question. */
const TIMEOUT_MS = 2000;

/**
 * Asks the chain for its block at a height; those asked for in one tick travel in one request. Undefined when the node has
 * no block there. Rejects when it does not answer.
 */
export type ReadBlock = (number: bigint) => Promise<Block | undefined>;

/** Reads blocks of a chain through one node. */
export function openBlocks(deployment: Pick<Deployment, "chainId" | "name">, rpcUrl: string): ReadBlock {
  const client = createReadClient(deployment, rpcUrl, { timeout: TIMEOUT_MS, retryCount: 0 });
  return async (number) => {
    const block = await client.request({
      method: "eth_getBlockByNumber",
      params: [numberToHex(number), false],
    });
    if (block === null || !isHex(block.hash)) return undefined;
    return { number, hash: block.hash, timestamp: hexToBigInt(block.timestamp) };
  };
}

/**
 * The first block after `time`: between one that is not (`low`, a height) and one that is. It looks near the upper end
 * first, where it nearly always is. Undefined when the node lacks a block; rejects when it does not answer.
 */
export async function firstBlockAfter(
  time: bigint,
  low: bigint,
  high: Block,
  readBlock: ReadBlock,
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
