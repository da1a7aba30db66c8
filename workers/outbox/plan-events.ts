import type { ChainEvent } from "./event.ts";
import type { NewEvents } from "./event-queries.ts";
import type { Cursor } from "./progress.ts";
import type { BlockVerdict } from "./reorg-check.ts";

/** The events of expired policies. */
export type ExpiryEvents = {
  readonly events: readonly ChainEvent[];
  /** Whether `events` has every expiry up to the newest confirmed block. */
  readonly complete: boolean;
  /** Whether the limit left out others. */
  readonly more: boolean;
};

/** What a run has read from index and chain. */
export type Findings = {
  readonly cursor: Cursor;
  /** The newest block that the index regards as final. */
  readonly finalized: bigint;
  /** The newest block with enough confirmations. */
  readonly upTo: bigint;
  readonly verdicts: readonly BlockVerdict[];
  readonly logs: NewEvents;
  /** Whether new events must wait for reversals that are not proven yet. */
  readonly held: boolean;
  /** The most reversals of a run; its transaction is short. */
  readonly limit: number;
  readonly expiries: ExpiryEvents;
};

/** What a run writes: first the reversals, then the new events. */
export type Plan = {
  readonly reverted: readonly Extract<BlockVerdict, { kind: "orphaned" }>[];
  /** By block, and within a block by log, expiries last. */
  readonly events: readonly ChainEvent[];
  readonly finalBlock: bigint;
  readonly processedBlock: bigint;
  /** The block up to which the run is complete: the next one may continue there. Undefined where it is not known. */
  readonly takenBlock: bigint | undefined;
  /** Whether every expiry in final blocks is stored, so that the cursor may take the time of `finalBlock`. */
  readonly timeIsFinal: boolean;
  /** Whether the next run should follow at once. */
  readonly more: boolean;
};

/** The lowest of some heights. */
export function lowest(first: bigint, ...others: readonly bigint[]): bigint {
  let low = first;
  for (const height of others) if (height < low) low = height;
  return low;
}

const highest = (a: bigint, b: bigint) => -lowest(-a, -b);

/** Decides which events a run reverts and stores. */
export function planEvents(findings: Findings): Plan {
  const { cursor, finalized, upTo, verdicts, expiries, held, limit, logs } = findings;
  const orphaned = verdicts.filter((verdict) => verdict.kind === "orphaned");
  const reverted = orphaned.slice(0, limit);
  // A policy that becomes due or expires in another block has the same key: the next run sees it, and stores it in its place.
  const moves = orphaned.some(({ event: { type } }) => type === "policy_due" || type === "policy_expired");
  // Send reversals before new events: a new event may be of the same transaction, in another block.
  if (held || moves || reverted.length < orphaned.length) {
    const { finalBlock, processedBlock } = cursor;
    const more = reverted.length > 0;
    return {
      reverted,
      events: [],
      finalBlock,
      processedBlock,
      takenBlock: undefined,
      timeIsFinal: false,
      more,
    };
  }
  // Events after an omitted one wait: from the first omitted log on, and after the block of the last expiry within the limit.
  const logsFrom = logs.firstOmitted ?? upTo + 1n;
  const expiriesFrom = (expiries.more ? expiries.events.at(-1)?.block.number : undefined) ?? upTo + 1n;
  const processed = lowest(upTo, logsFrom - 1n, expiriesFrom - 1n);
  const storedExpiries = expiries.events.filter(({ block }) => block.number < logsFrom);
  const storedLogs = logs.events.filter(({ block }) => block.number <= expiriesFrom);
  // Events with an unknown verdict are checked again, so the cursor stays below their blocks.
  const uncertain = verdicts.flatMap(({ kind, event }) =>
    kind === "unknown" ? [BigInt(event.blockNumber) - 1n] : [],
  );
  const final = lowest(finalized, processed, ...uncertain);
  return {
    reverted,
    events: inChainOrder(storedLogs, storedExpiries),
    // An index may go back when it restarts; the cursor never does.
    finalBlock: highest(cursor.finalBlock, final),
    processedBlock: highest(cursor.processedBlock, processed),
    takenBlock: expiries.complete && !verdicts.some(isOpen) ? processed : undefined,
    timeIsFinal: expiries.complete && storedExpiries.length === expiries.events.length,
    // A reverted event may happen again, which the next run finds.
    more:
      logs.firstOmitted !== undefined || orphaned.length > 0 || (expiries.more && storedExpiries.length > 0),
  };
}

/** Whether a later run may revert the event, or store it again. */
const isOpen = ({ kind, event }: BlockVerdict) => kind !== "canonical" || !event.indexed;

function inChainOrder(logs: readonly ChainEvent[], others: readonly ChainEvent[]): readonly ChainEvent[] {
  return [...logs, ...others].sort(
    (a, b) =>
      Number(a.block.number - b.block.number) ||
      (a.log?.index ?? Number.POSITIVE_INFINITY) - (b.log?.index ?? Number.POSITIVE_INFINITY) ||
      0,
  );
}

/** The first `limit` events of logs and of due policies together. `due` has more than `limit` if there are more. */
export function withDuePolicies(logs: NewEvents, due: readonly ChainEvent[], limit: number): NewEvents {
  const all = inChainOrder(logs.events, due);
  return { events: all.slice(0, limit), firstOmitted: all[limit]?.block.number ?? logs.firstOmitted };
}
