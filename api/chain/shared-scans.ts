/** Which scans of the chain run, who waits for which of them, and how many there may be. */
import type { Address } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { createRoom } from "../http/concurrency-limit.ts";
import type { ChainHead } from "./chain-reads.ts";

/** Scans at work at once in this process; a provider's request limit is soon reached. */
const MAX_SCANS = 4;
/** A scan is of some seconds; much sooner than after the 30 s of other failures there is room again. */
const BUSY_RETRY_SECONDS = 5;
/** A scan ends by then whatever the node does, in ms, and with it the answer to those who wait. */
export const SCAN_TIMEOUT_MS = 20_000;
/** How long what a scan has found is kept, in ms; never beyond the next block. */
const KEEP_MS = 1000;

/** Room for scans: whoever finds none is told to come back, and does not queue. */
export type ScanRoom = { run<T>(scan: (signal: AbortSignal) => Promise<T>): Promise<T> };

export function createScanRoom(): ScanRoom {
  const message = `${MAX_SCANS} scans of the chain run already; try again later.`;
  const room = createRoom(
    MAX_SCANS,
    () => new ApiError("scan_busy", message, { retryAfter: BUSY_RETRY_SECONDS }),
  );
  return { run: (scan) => room(() => scan(AbortSignal.timeout(SCAN_TIMEOUT_MS))) };
}

/** What was found for a wallet as of a block. */
export type Found<T> = { readonly block: ChainHead; readonly value: T };

export type SharedScans<T> = {
  /** Joins the scan of this wallet that runs, takes what one has found as of `head`, or starts one as of `head`. */
  find(wallet: Address, head: ChainHead): Promise<Found<T>>;
  /** Forgets what was found as of a block that is no longer part of the chain. */
  forget(wallet: Address, block: ChainHead): void;
};

type Scan<T> = { readonly block: ChainHead; readonly found: Promise<Found<T>>; done: boolean };

export function shareScans<T>(
  room: ScanRoom,
  scan: (wallet: Address, block: ChainHead, signal: AbortSignal) => Promise<T>,
): SharedScans<T> {
  const scans = new Map<Address, Scan<T>>();
  const drop = (wallet: Address, old: Scan<T>) => {
    if (scans.get(wallet) === old) scans.delete(wallet);
  };
  return {
    find(wallet, head) {
      const known = scans.get(wallet);
      if (known && (!known.done || known.block.hash === head.hash)) return known.found;
      const found = room.run(async (signal) => ({ block: head, value: await scan(wallet, head, signal) }));
      const mine: Scan<T> = { block: head, found, done: false };
      scans.set(wallet, mine);
      found.then(
        () => {
          mine.done = true;
          setTimeout(() => drop(wallet, mine), KEEP_MS).unref();
        },
        () => drop(wallet, mine),
      );
      return found;
    },
    forget(wallet, block) {
      if (scans.get(wallet)?.block.hash === block.hash) scans.delete(wallet);
    },
  };
}
