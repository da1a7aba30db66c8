import { eventPair, type WaitingEvent } from "ponder:schema";
import type { Db } from "./event.ts";

/**
 * Takes the counterpart of `event` out of those that wait: of the other side, with the same key, the oldest with the
 * same hint or else the oldest. Without one, `event` waits itself.
 */
export function takeCounterpart(
  waiting: readonly WaitingEvent[],
  event: WaitingEvent,
): { counterpart: WaitingEvent | undefined; waiting: readonly WaitingEvent[] } {
  const candidates = waiting.filter(({ side, key }) => side !== event.side && key === event.key);
  const counterpart = candidates.find(({ hint }) => hint === event.hint) ?? candidates[0];
  if (counterpart === undefined) return { counterpart, waiting: [...waiting, event] };
  return { counterpart, waiting: waiting.filter((other) => other !== counterpart) };
}

/**
 * Pairs an event with its counterpart of the same transaction, in whichever order the two were logged. Resolves to the
 * counterpart's log index once both are there.
 */
export async function pairWithinTransaction(
  db: Db,
  kind: "burn" | "bond",
  txHash: `0x${string}`,
  event: WaitingEvent,
): Promise<number | undefined> {
  const row = await db.find(eventPair, { kind });
  const { counterpart, waiting } = takeCounterpart(row?.txHash === txHash ? row.waiting : [], event);
  await db.insert(eventPair).values({ kind, txHash, waiting }).onConflictDoUpdate({ txHash, waiting });
  return counterpart?.logIndex;
}
