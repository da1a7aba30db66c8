/** The blocks that an audit's options name. */
import type { BlockRange } from "../../lib/chain/log-scan.ts";
import { greater } from "../../workers/common/bigints.ts";
import type { CoverChain } from "../../workers/keeper/from-chain/cover-chain.ts";
import { createBlockClock } from "../../workers/keeper/from-chain/cover-chain.ts";
import { UsageError } from "../usage-error.ts";
import type { Position } from "./arguments.ts";

/**
 * The range of blocks: from the deployment's first block to the newest one, unless the options say otherwise. A time at the start
 * is the first block not before it, one at the end the last block not after it.
 * @throws UsageError when there is no such block; also rejects when the node does not answer
 */
export async function rangeOf(
  { clients: { reads }, deployment }: CoverChain,
  { from, to }: { readonly from: Position | undefined; readonly to: Position | undefined },
): Promise<BlockRange> {
  const head = await reads.getBlockNumber();
  const start = BigInt(deployment.startBlock);
  if (start > head) throw new UsageError(`the node is at block ${head}, before the deployment's first block`);
  const clock = createBlockClock(reads);
  const lastAt = (time: bigint) => clock.lastAt(time, { from: start, to: head });
  const first = async (position: Position): Promise<bigint> => {
    if ("block" in position) return greater(position.block, start);
    const before = await lastAt(position.time - 1n);
    return before === undefined ? start : before + 1n;
  };
  const last = async (position: Position): Promise<bigint> =>
    "block" in position ? position.block : ((await lastAt(position.time)) ?? start - 1n);
  const range = { from: from ? await first(from) : start, to: to ? await last(to) : head };
  if (range.to > head) throw new UsageError(`--to: the newest block is ${head}`);
  if (range.from > range.to) {
    throw new UsageError(
      `there is no block in the range: the chain has the blocks from ${start} to ${head}, the audit would have those from ${range.from} to ${range.to}`,
    );
  }
  return range;
}
