/** Finds blocks by their times, with few headers: times rise with the blocks' numbers. */
import type { ReadClient } from "../../../lib/chain/client.ts";
import type { BlockRange } from "../../../lib/chain/log-scan.ts";

/** The blocks `firstBlock` to `lastBlock` with a time (Unix seconds) from `notBefore` to `notAfter`. All are inclusive. */
export type Span = {
  readonly firstBlock: bigint;
  readonly lastBlock: bigint;
  readonly notBefore: bigint;
  readonly notAfter: bigint;
};

export type BlockClock = {
  /** The time of a block, Unix seconds. */
  timeOf(block: bigint): Promise<bigint>;
  /** The newest block of a range whose time is not after `time`; undefined when the whole range is later. */
  lastAt(time: bigint, range: BlockRange): Promise<bigint | undefined>;
  /** The blocks of a span, from the first to the last; undefined when it has none. */
  blocksIn(span: Span): Promise<BlockRange | undefined>;
};

/** A search: the block `low`, at `start`, is not after `time`, and `high`, at `end`, is. */
type Search = {
  readonly low: bigint;
  readonly high: bigint;
  readonly start: bigint;
  readonly end: bigint;
  readonly time: bigint;
  /** Whether the last look moved `low`. */
  readonly movedLow: boolean;
};

/** Ways to choose the next block to look at. They take turns: blocks mostly keep a pace, but nobody promises it. */
const turns: readonly ((search: Search) => bigint)[] = [
  ({ low, high, start, end, time }) => low + ((high - low) * (time - start)) / (end - start),
  ({ low, high, movedLow }) => (movedLow ? low + 1n : high - 1n),
  ({ low, high }) => (low + high) / 2n,
];

/** The next block to look at, between the two. */
function nextLook(search: Search, turn: number): bigint {
  const { low, high } = search;
  const look = turns[turn % turns.length]?.(search) ?? low;
  if (look <= low) return low + 1n;
  return look >= high ? high - 1n : look;
}

/**
 * A clock over the times that `readTime` tells. Each time is read once, so a clock lives as long as one question to the chain:
 * a reorganisation changes the times of blocks.
 */
export function createClock(readTime: (block: bigint) => Promise<bigint>): BlockClock {
  const known = new Map<bigint, Promise<bigint>>();

  function timeOf(block: bigint): Promise<bigint> {
    let time = known.get(block);
    if (!time) {
      time = readTime(block);
      known.set(block, time);
    }
    return time;
  }

  async function lastAt(time: bigint, { from, to }: BlockRange): Promise<bigint | undefined> {
    if (from > to || (await timeOf(from)) > time) return undefined;
    if ((await timeOf(to)) <= time) return to;
    let [low, high] = [from, to];
    let movedLow = true;
    for (let turn = 0; high - low > 1n; turn += 1) {
      const look = nextLook(
        { low, high, start: await timeOf(low), end: await timeOf(high), time, movedLow },
        turn,
      );
      movedLow = (await timeOf(look)) <= time;
      if (movedLow) low = look;
      else high = look;
    }
    return low;
  }

  return {
    timeOf,
    lastAt,
    async blocksIn({ firstBlock, lastBlock, notBefore, notAfter }) {
      if (notBefore > notAfter) return undefined;
      const range = { from: firstBlock, to: lastBlock };
      const last = await lastAt(notAfter, range);
      if (last === undefined) return undefined;
      const tooEarly = await lastAt(notBefore - 1n, range);
      const first = tooEarly === undefined ? firstBlock : tooEarly + 1n;
      return first <= last ? { from: first, to: last } : undefined;
    },
  };
}

/** The clock of a chain. Rejects when the node does not answer, or has no such block. */
export const createBlockClock = (client: ReadClient): BlockClock =>
  createClock(async (blockNumber) => (await client.getBlock({ blockNumber })).timestamp);
