/** Reads the logs of any range of blocks, in windows as large as the node allows. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Address, type Hex, numberToHex, type RpcLog } from "viem";
import type { ReadClient } from "./client.ts";
import { isRateLimit } from "./rate-limit.ts";

export type LogFilter = {
  /** A contract, or any of several. */
  readonly address: Address | readonly Address[];
  /** By position; null matches any topic, a list any of its members. */
  readonly topics: readonly (Hex | readonly Hex[] | null)[];
};

/** Both ends are included. */
export type BlockRange = { readonly from: bigint; readonly to: bigint };

/** Concurrent windows of one scan. */
const CONCURRENT_WINDOWS = 8;
/** First window, in blocks: many providers allow it. Scans then find out whether the node allows more. */
const FIRST_WINDOW = 10_000n;
/** Successful windows in a row before a larger one is tried; doubled after each larger one that was refused. */
const GROW_AFTER = 4;
const GROW_AFTER_AT_MOST = 64;
/** Attempts for a single block, which cannot be halved. */
const BLOCK_TRIES = 2;
/** Pause after a node's rate limit, in ms; a smaller window would not help. */
const RATE_PAUSE_MS = 500;

/** The scan is incomplete: a block's logs cannot be read, or a log does not fit the contracts. */
export class LogScanError extends Error {
  override name = "LogScanError";
}

const lengthOf = ({ from, to }: BlockRange): bigint => to - from + 1n;

/**
 * The window size that the node allows, learned from its refusals and shared by all scans. A refused window is halved,
 * down to a single block; windows grow again after successes, because nodes limit results as well as ranges.
 */
export class WindowSize {
  #blocks: bigint;
  #successes = 0;
  #growAfter = GROW_AFTER;
  /** True when the size was raised and no window of it was read yet. */
  #isGuess = false;

  /** @param blocks the first size */
  constructor(blocks = FIRST_WINDOW) {
    this.#blocks = blocks;
  }

  get blocks(): bigint {
    return this.#blocks;
  }

  succeeded(range: BlockRange): void {
    if (lengthOf(range) < this.#blocks) return; // the rest of a range proves nothing about larger windows
    if (this.#isGuess) this.#growAfter = GROW_AFTER;
    this.#isGuess = false;
    this.#successes += 1;
    if (this.#successes < this.#growAfter) return;
    this.#successes = 0;
    this.#blocks *= 2n;
    this.#isGuess = true;
  }

  /** A node that fails for a single block tells nothing about its limits. */
  reset(): void {
    this.#blocks = FIRST_WINDOW;
    this.#successes = 0;
    this.#growAfter = GROW_AFTER;
    this.#isGuess = false;
  }

  refused(range: BlockRange): void {
    const half = lengthOf(range) / 2n;
    if (this.#isGuess) this.#growAfter = Math.min(this.#growAfter * 2, GROW_AFTER_AT_MOST);
    this.#isGuess = false;
    this.#successes = 0;
    if (half < this.#blocks) this.#blocks = half > 0n ? half : 1n;
  }
}

export type LogScan = {
  readonly client: ReadClient;
  readonly window: WindowSize;
  /** Aborts the scan; running windows are awaited. */
  readonly signal: AbortSignal;
};

/**
 * Passes every log of the range to `onLogs`, window by window in any order. Resolves once every window was read.
 * @throws LogScanError when a window could not be read, and the signal's reason when it is aborted
 */
export async function scanLogs(
  { client, window, signal }: LogScan,
  { address, topics }: LogFilter,
  range: BlockRange,
  onLogs: (logs: readonly RpcLog[]) => void,
): Promise<void> {
  const unread: BlockRange[] = range.from <= range.to ? [range] : [];
  const reading = new Set<Promise<void>>();

  /** Cuts the next window from the unread ranges. */
  function takeWindow(): BlockRange | undefined {
    const next = unread.pop();
    if (!next || lengthOf(next) <= window.blocks) return next;
    const end = next.from + window.blocks;
    unread.push({ from: end, to: next.to });
    return { from: next.from, to: end - 1n };
  }

  async function requestLogs({ from, to }: BlockRange): Promise<readonly RpcLog[]> {
    const logs = await client.request({
      method: "eth_getLogs",
      params: [
        {
          address: typeof address === "string" ? address : [...address],
          topics: topics.map((topic) => (topic === null || typeof topic === "string" ? topic : [...topic])),
          fromBlock: numberToHex(from),
          toBlock: numberToHex(to),
        },
      ],
    });
    if (!Array.isArray(logs)) throw new Error("the node's answer is not a list of logs");
    return logs;
  }

  async function readWindow(next: BlockRange, tries = 1): Promise<void> {
    let logs: readonly RpcLog[];
    try {
      logs = await requestLogs(next);
    } catch (error) {
      return retry(next, tries, error);
    }
    window.succeeded(next);
    onLogs(logs);
  }

  async function retry(next: BlockRange, tries: number, error: unknown): Promise<void> {
    if (isRateLimit(error)) {
      await sleep(RATE_PAUSE_MS, undefined, { signal });
      unread.push(next);
    } else if (next.from < next.to) {
      window.refused(next);
      const middle = next.from + lengthOf(next) / 2n;
      unread.push({ from: middle, to: next.to }, { from: next.from, to: middle - 1n });
    } else if (tries < BLOCK_TRIES) {
      await readWindow(next, tries + 1);
    } else {
      throw new LogScanError(`the logs of block ${next.from} cannot be read`, { cause: error });
    }
  }

  function start(next: BlockRange): void {
    const read = readWindow(next).finally(() => reading.delete(read));
    reading.add(read);
  }

  try {
    while (unread.length > 0 || reading.size > 0) {
      signal.throwIfAborted();
      while (reading.size < CONCURRENT_WINDOWS) {
        const next = takeWindow();
        if (!next) break;
        start(next);
      }
      await Promise.race(reading);
    }
  } catch (error) {
    await Promise.allSettled(reading);
    if (error instanceof LogScanError) window.reset();
    throw error;
  }
}
