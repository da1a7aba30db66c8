/** Runs live scans of the chain: a limited number at once, and one per wallet for all requests that ask meanwhile. */
import type { Address } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { createConcurrencyLimit } from "../http/concurrency-limit.ts";
import type { ChainHead } from "./block.ts";

/** Concurrent scans of this process; a provider's request limit is soon reached. */
const MAX_SCANS = 4;
/** Concurrent scans that one client may have started, so that one client leaves some to the others. */
const MAX_SCANS_OF_CLIENT = 2;
/** `Retry-After` of a refused scan, in seconds: a scan takes a few seconds. */
const BUSY_RETRY_SECONDS = 5;
/** Timeout of a scan and of the responses that wait for it, in ms. */
export const SCAN_TIMEOUT_MS = 20_000;
/** How long a scan's result is kept, in ms; never beyond the next block. */
const KEEP_MS = 1000;

/** Runs a scan for a client, or refuses it when too many run. */
export type ScanLimit = <T>(client: string, scan: (signal: AbortSignal) => Promise<T>) => Promise<T>;

const scanBusy = (running: string) =>
  new ApiError("scan_busy", `${running}; try again later.`, { retryAfter: BUSY_RETRY_SECONDS });

export function createScanLimit(): ScanLimit {
  const limit = createConcurrencyLimit(MAX_SCANS, () =>
    scanBusy(`${MAX_SCANS} scans of the chain are running`),
  );
  /** Running scans by the client that started them; a client without one takes no memory. */
  const started = new Map<string, number>();
  return async (client, scan) => {
    const own = started.get(client) ?? 0;
    if (own >= MAX_SCANS_OF_CLIENT) {
      throw scanBusy(
        `${MAX_SCANS_OF_CLIENT} scans of the chain that this client address started are running`,
      );
    }
    started.set(client, own + 1);
    try {
      return await limit(() => scan(AbortSignal.timeout(SCAN_TIMEOUT_MS)));
    } finally {
      const left = (started.get(client) ?? 1) - 1;
      if (left === 0) started.delete(client);
      else started.set(client, left);
    }
  };
}

/** A scan's result for a wallet, as of a block. */
export type Found<T> = { readonly block: ChainHead; readonly value: T };

export type SharedScans<T> = {
  /**
   * Joins the wallet's running scan, whoever started it, reuses its result as of `head`, or starts a scan as of `head`.
   * @throws ApiError `scan_busy` when too many scans run, or too many that `client` started
   */
  find(wallet: Address, head: ChainHead, client: string): Promise<Found<T>>;
  /** Drops the result of a block that was reorganised away. */
  forget(wallet: Address, block: ChainHead): void;
};

type Scan<T> = { readonly block: ChainHead; readonly found: Promise<Found<T>>; done: boolean };

export function shareScans<T>(
  limit: ScanLimit,
  scan: (wallet: Address, block: ChainHead, signal: AbortSignal) => Promise<T>,
): SharedScans<T> {
  const scans = new Map<Address, Scan<T>>();
  const drop = (wallet: Address, old: Scan<T>) => {
    if (scans.get(wallet) === old) scans.delete(wallet);
  };
  return {
    find(wallet, head, client) {
      const known = scans.get(wallet);
      if (known && (!known.done || known.block.hash === head.hash)) return known.found;
      const found = limit(client, async (signal) => ({
        block: head,
        value: await scan(wallet, head, signal),
      }));
      const started: Scan<T> = { block: head, found, done: false };
      scans.set(wallet, started);
      found.then(
        () => {
          started.done = true;
          setTimeout(() => drop(wallet, started), KEEP_MS).unref();
        },
        () => drop(wallet, started),
      );
      return found;
    },
    forget(wallet, block) {
      if (scans.get(wallet)?.block.hash === block.hash) scans.delete(wallet);
    },
  };
}
