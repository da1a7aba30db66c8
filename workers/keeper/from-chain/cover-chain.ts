/** The keeper's view of a chain that uses no database: its contracts, and clients that read logs, views and blocks. */
import type { Address, Hex } from "viem";
import { WindowSize } from "../../../lib/chain/log-scan.ts";
import { createScanClients, type ScanClients } from "../../../lib/chain/scan-clients.ts";
import type { Deployment } from "../../../lib/deployments.ts";
import { type BlockClock, createBlockClock } from "./block-clock.ts";
import type { ShieldViews } from "./read-policies.ts";
import type { SettledLogs } from "./settled-logs.ts";

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
