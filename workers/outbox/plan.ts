import type { ChainEvent, ChainEventType } from "./event.ts";
import type { Cursor } from "./position.ts";
import type { Verdict } from "./proofs.ts";
import type { NewEvents } from "./rows.ts";

/** How much one pass may write, so that its transaction is over soon; one event fits always. */
export type Room = {
  readonly events: number;
  /** Of burns, which are for whoever wants them: the more those are, the fewer. */
  readonly burns: number;
};

/** The first of some events that have room. */
function fitting<Event extends { readonly type: ChainEventType }>(
  events: readonly Event[],
  room: Room,
): readonly Event[] {
  let burns = 0;
  const tooMany = events.findIndex(({ type }, index) => {
    if (type === "token_burned") burns += 1;
    return index > 0 && (index >= room.events || burns > room.burns);
  });
  return tooMany < 0 ? events : events.slice(0, tooMany);
}

/** What a pass has found, once index and chain were asked. */
export type Findings = {
  readonly cursor: Cursor;
  /** The newest block that can not be taken back any more, by the index. */
  readonly finalized: bigint;
  /** The newest block that is deep enough. */
  readonly upTo: bigint;
  readonly verdicts: readonly Verdict[];
  readonly logs: NewEvents;
  /** Whether reversals are still to come that belong before anything new. */
  readonly held: boolean;
  readonly room: Room;
  readonly expiries: {
    readonly events: readonly ChainEvent[];
    /** Whether all that expired by the newest block deep enough are among them. */
    readonly complete: boolean;
    /** Whether others had no room. */
    readonly more: boolean;
  };
};

/** What a pass writes, in this order. */
export type Plan = {
  readonly reverted: readonly Extract<Verdict, { kind: "gone" }>[];
  /** By block, logs before expiries. */
  readonly events: readonly ChainEvent[];
  readonly finalBlock: bigint;
  readonly passedBlock: bigint;
  /** Whether every expiry in final blocks is taken, so that the time of the newest one may be noted. */
  readonly timeIsFinal: boolean;
  /** Whether there is more to do at once. */
  readonly again: boolean;
};

/** The lowest of some heights. */
export function least(first: bigint, ...others: readonly bigint[]): bigint {
  let low = first;
  for (const height of others) if (height < low) low = height;
  return low;
}

const highest = (a: bigint, b: bigint) => -least(-a, -b);

/** Decides what a pass writes. */
export function planPass(findings: Findings): Plan {
  const { cursor, finalized, upTo, verdicts, expiries, held, room } = findings;
  const gone = verdicts.filter((verdict) => verdict.kind === "gone");
  const first = fitting(
    gone.map((verdict) => ({ verdict, type: verdict.event.type })),
    room,
  );
  // A subscriber hears first of what is none, for the same transaction may be told again in another block.
  if (held || first.length < gone.length) {
    const reverted = first.map(({ verdict }) => verdict);
    const { finalBlock, passedBlock } = cursor;
    const again = reverted.length > 0;
    return { reverted, events: [], finalBlock, passedBlock, timeIsFinal: false, again };
  }
  const logs = withRoom(findings.logs, room);
  // Where events found no room, later ones wait for them: the first such log, and the block of the last expiry that is told.
  const logsFrom = logs.untaken ?? upTo + 1n;
  const expiriesFrom = (expiries.more ? expiries.events.at(-1)?.block.number : undefined) ?? upTo + 1n;
  const taken = least(upTo, logsFrom - 1n, expiriesFrom - 1n);
  const inOrder = expiries.events.filter(({ block }) => block.number < logsFrom);
  const logsInOrder = logs.events.filter(({ block }) => block.number <= expiriesFrom);
  // What nobody could answer for is asked again, so its block must stay in sight.
  const open = verdicts.flatMap(({ kind, event }) =>
    kind === "unknown" ? [BigInt(event.blockNumber) - 1n] : [],
  );
  const final = least(finalized, taken, ...open);
  return {
    reverted: gone,
    events: byBlock(logsInOrder, inOrder),
    // An index that has gone back, as at its restart, takes neither back.
    finalBlock: highest(cursor.finalBlock, final),
    passedBlock: highest(cursor.passedBlock, taken),
    timeIsFinal: expiries.complete && inOrder.length === expiries.events.length,
    // What was taken back may have expired, or come back, anew.
    again: logs.untaken !== undefined || gone.length > 0 || (expiries.more && inOrder.length > 0),
  };
}

function byBlock(logs: readonly ChainEvent[], expiries: readonly ChainEvent[]): readonly ChainEvent[] {
  return [...logs, ...expiries].sort(
    (a, b) =>
      Number(a.block.number - b.block.number) ||
      (a.log?.index ?? Number.POSITIVE_INFINITY) - (b.log?.index ?? Number.POSITIVE_INFINITY) ||
      0,
  );
}

function withRoom(logs: NewEvents, room: Room): NewEvents {
  const events = fitting(logs.events, room);
  const next = logs.events[events.length];
  return next ? { events, untaken: next.block.number } : logs;
}
