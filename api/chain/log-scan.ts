/** Reads logs over a range of blocks of any length, in windows as large as the node allows. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Address,
  BaseError,
  type Hex,
  HttpRequestError,
  numberToHex,
  type RpcLog,
  RpcRequestError,
} from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";

export type LogFilter = {
  readonly address: Address;
  /** By position; null takes any, a list any of its members. */
  readonly topics: readonly (Hex | readonly Hex[] | null)[];
};

/** Both ends are part of the range. */
export type BlockRange = { readonly from: bigint; readonly to: bigint };

/** Windows that one scan reads at the same time. */
const CONCURRENT_WINDOWS = 8;
/** Many providers allow this range; the first scan finds out whether this one allows more. */
const FIRST_WINDOW = 10_000n;
/** So many windows in a row must have been read before a larger one is tried; more after each one that was refused. */
const GROW_AFTER = 4;
const GROW_AFTER_AT_MOST = 64;
/** Tries of a single block: below that there is nothing left to halve. */
const BLOCK_TRIES = 2;
/** How long to leave a node alone that counts requests, in ms. */
const RATE_PAUSE_MS = 500;
/** JSON-RPC codes of nodes that say 429 in the body. */
const RATE_CODES: readonly number[] = [429, -32007];

/** Logs that cannot be read, in however small a window, or that do not fit the contracts: what was found is not all. */
export class LogScanError extends Error {
  override name = "LogScanError";
}

const lengthOf = ({ from, to }: BlockRange): bigint => to - from + 1n;

/** Whether the node refuses any request for now, and not this window. */
function isRateLimit(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const limited = error.walk(
    (cause) =>
      (cause instanceof HttpRequestError && cause.status === 429) ||
      (cause instanceof RpcRequestError && RATE_CODES.includes(cause.code)),
  );
  return limited !== null;
}

/**
 * The size of windows that a node answers, learned from its refusals and shared by all scans of it. A refused window is
 * halved, down to a single block; windows grow again after successes, for nodes limit results as well as ranges.
 */
export class WindowSize {
  #blocks = FIRST_WINDOW;
  #successes = 0;
  #growAfter = GROW_AFTER;
  /** Whether the size was raised and is not proven yet. */
  #isGuess = false;

  get blocks(): bigint {
    return this.#blocks;
  }

  succeeded(range: BlockRange): void {
    if (lengthOf(range) < this.#blocks) return; // the last of its range says nothing about larger ones
    if (this.#isGuess) this.#growAfter = GROW_AFTER;
    this.#isGuess = false;
    this.#successes += 1;
    if (this.#successes < this.#growAfter) return;
    this.#successes = 0;
    this.#blocks *= 2n;
    this.#isGuess = true;
  }

  /** A node that does not even answer for one block says nothing about its limits. */
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
  /** Ends the scan when it is aborted; a window that is being read is waited for. */
  readonly signal: AbortSignal;
};

/**
 * Hands every log of the range to `onLogs`, window by window and in no order. It resolves only when each window was read.
 * @throws LogScanError when one could not be, and the signal's reason when that is aborted
 */
export async function scanLogs(
  { client, window, signal }: LogScan,
  { address, topics }: LogFilter,
  range: BlockRange,
  onLogs: (logs: readonly RpcLog[]) => void,
): Promise<void> {
  const unread: BlockRange[] = range.from <= range.to ? [range] : [];
  const reading = new Set<Promise<void>>();

  /** Cuts the next window off what is unread. */
  function takeWindow(): BlockRange | undefined {
    const next = unread.pop();
    if (!next || lengthOf(next) <= window.blocks) return next;
    const end = next.from + window.blocks;
    unread.push({ from: end, to: next.to });
    return { from: next.from, to: end - 1n };
  }

  async function ask({ from, to }: BlockRange): Promise<readonly RpcLog[]> {
    const logs = await client.request({
      method: "eth_getLogs",
      params: [
        {
          address,
          topics: topics.map((topic) => (topic === null || typeof topic === "string" ? topic : [...topic])),
          fromBlock: numberToHex(from),
          toBlock: numberToHex(to),
        },
      ],
    });
    if (!Array.isArray(logs)) throw new Error("the node's answer is no list of logs");
    return logs;
  }

  async function readWindow(next: BlockRange, tries = 1): Promise<void> {
    let logs: readonly RpcLog[];
    try {
      logs = await ask(next);
    } catch (error) {
      return readAgain(next, tries, error);
    }
    window.succeeded(next);
    onLogs(logs);
  }

  async function readAgain(next: BlockRange, tries: number, error: unknown): Promise<void> {
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
