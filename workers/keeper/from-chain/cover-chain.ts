/** The keeper's view of a chain that uses no database: its contracts, and clients that read logs, views and blocks. */
import type { Address, Hex } from "viem";
import type { ReadClient } from "../../../lib/chain/client.ts";
import { type BlockRange, WindowSize } from "../../../lib/chain/log-scan.ts";
import { createScanClients, type ScanClients } from "../../../lib/chain/scan-clients.ts";
import type { Deployment } from "../../../lib/deployments.ts";
import type { SettledLogs, ShieldViews } from "./read-policies.ts";

export type CoverChain = {
  readonly deployment: Deployment;
  readonly clients: ScanClients;
  /** The size of a window of logs that the node allows. */
  readonly window: WindowSize;
  /** Ends the reads. */
  readonly signal: AbortSignal;
  /** What adapters answered of their shields; it never changes. */
  readonly shields: Map<Address, ShieldViews>;
  /** The logs of deep blocks, so that a look every few seconds reads only those of new blocks. */
  readonly settled: SettledLogs;
  /** Gets a sentence where the node cannot tell something about the past. */
  readonly warn: (text: string) => void;
};

/** Passes on the first of several sentences that differ in their numbers only: a writer asks every few minutes. */
function onceEach(warn: (text: string) => void): (text: string) => void {
  const warned = new Set<string>();
  return (text) => {
    const kind = text.replaceAll(/\b\d+\b/g, "");
    if (warned.has(kind)) return;
    warned.add(kind);
    warn(text);
  };
}

/**
 * Opens a chain; sends nothing to the node. `signal` ends all reads, `warn` gets what the node cannot tell, once of each kind and
 * contract.
 */
export const openCoverChain = (
  deployment: Deployment,
  rpcUrl: string,
  {
    signal = new AbortController().signal,
    warn = () => {},
  }: { signal?: AbortSignal; warn?: (text: string) => void } = {},
): CoverChain => ({
  deployment,
  clients: createScanClients(deployment, rpcUrl),
  window: new WindowSize(),
  signal,
  shields: new Map(),
  settled: new Map(),
  warn: onceEach(warn),
});

/** A block that a question is asked at. `timestamp` in Unix seconds. */
export type Moment = { readonly number: bigint; readonly hash: Hex; readonly timestamp: bigint };

/** The chain was reorganised while it was read, again and again. */
export class ReorganisedError extends Error {
  override name = "ReorganisedError";
}

/** A reorganisation during a read is rare, and two of them are rarer. */
const ATTEMPTS = 3;

async function momentOf({ clients: { reads } }: CoverChain, block: bigint | undefined): Promise<Moment> {
  const { number, hash, timestamp } = await reads.getBlock(
    block === undefined ? { blockTag: "latest" } : { blockNumber: block },
  );
  return { number, hash, timestamp };
}

/**
 * Reads something that describes the chain up to one block, by default the newest. When the block is reorganised away meanwhile,
 * it is read anew.
 * @throws {@link ReorganisedError} after three attempts; what `read` throws; also rejects when the node does not answer
 */
export async function readUpTo<T>(
  chain: CoverChain,
  block: bigint | undefined,
  read: (at: Moment, clock: BlockClock) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const at = await momentOf(chain, block);
    const outcome = await read(at, createBlockClock(chain.clients.reads)).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const now = await momentOf(chain, at.number).catch(() => undefined);
    if (now?.hash !== at.hash) continue;
    if ("value" in outcome) return outcome.value;
    throw outcome.error;
  }
  throw new ReorganisedError(`the chain was reorganised ${ATTEMPTS} times while it was read`);
}

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
