import type { ChainEvent, ChainEventType } from "./event.ts";
import type { NewEvents } from "./event-queries.ts";
import type { Cursor } from "./progress.ts";
import type { BlockVerdict } from "./reorg-check.ts";

/** How many events one run may write, which bounds the time of its transaction. The first event is always written. */
export type EventLimits = {
  readonly events: number;
  /** Burns go to every subscription to burns: the more subscriptions, the lower this limit. */
  readonly burns: number;
};

/** The first events within the limits. */
function withinLimits<Event extends { readonly type: ChainEventType }>(
  events: readonly Event[],
  limits: EventLimits,
): readonly Event[] {
  let burns = 0;
  const firstBeyond = events.findIndex(({ type }, index) => {
    if (type === "token_burned") burns += 1;
    return index > 0 && (index >= limits.events || burns > limits.burns);
  });
  return firstBeyond < 0 ? events : events.slice(0, firstBeyond);
}

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
  readonly limits: EventLimits;
  readonly expiries: ExpiryEvents;
};

/** What a run writes: first the reversals, then the new events. */
export type Plan = {
  readonly reverted: readonly Extract<BlockVerdict, { kind: "orphaned" }>[];
  /** By block, and within a block by log, expiries last. */
  readonly events: readonly ChainEvent[];
  readonly finalBlock: bigint;
  readonly processedBlock: bigint;
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
  const { cursor, finalized, upTo, verdicts, expiries, held, limits } = findings;
  const orphaned = verdicts.filter((verdict) => verdict.kind === "orphaned");
  const reversible = withinLimits(
    orphaned.map((verdict) => ({ verdict, type: verdict.event.type })),
    limits,
  );
  // A policy that becomes due in another block has the same key: the index's next snapshot shows it, below other new events.
  const movesDue = orphaned.some(({ event }) => event.type === "policy_due");
  // Send reversals before new events: a new event may be of the same transaction, in another block.
  if (held || movesDue || reversible.length < orphaned.length) {
    const reverted = reversible.map(({ verdict }) => verdict);
    const { finalBlock, processedBlock } = cursor;
    const more = reverted.length > 0;
    return { reverted, events: [], finalBlock, processedBlock, timeIsFinal: false, more };
  }
  const logs = limitLogs(findings.logs, limits);
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
    reverted: orphaned,
    events: inChainOrder(storedLogs, storedExpiries),
    // An index may go back when it restarts; the cursor never does.
    finalBlock: highest(cursor.finalBlock, final),
    processedBlock: highest(cursor.processedBlock, processed),
    timeIsFinal: expiries.complete && storedExpiries.length === expiries.events.length,
    // A reverted event may happen again, which the next run finds.
    more:
      logs.firstOmitted !== undefined || orphaned.length > 0 || (expiries.more && storedExpiries.length > 0),
  };
}

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

function limitLogs(logs: NewEvents, limits: EventLimits): NewEvents {
  const events = withinLimits(logs.events, limits);
  const next = logs.events[events.length];
  return next ? { events, firstOmitted: next.block.number } : logs;
}
