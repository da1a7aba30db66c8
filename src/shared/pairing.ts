import { eventPair, type WaitingEvent } from "ponder:schema";
import type { Db } from "./event.ts";

/**
 * Removes the counterpart of `event` from the waiting events: the oldest of the other side with the same key. Without a
 * counterpart, `event` is added to the waiting ones.
 */
export function takeCounterpart(
  waiting: readonly WaitingEvent[],
  event: WaitingEvent,
): { counterpart: WaitingEvent | undefined; waiting: readonly WaitingEvent[] } {
  const counterpart = waiting.find(({ side, key }) => side !== event.side && key === event.key);
  if (counterpart === undefined) return { counterpart, waiting: [...waiting, event] };
  return { counterpart, waiting: waiting.filter((other) => other !== counterpart) };
}

/**
 * Pairs an event with its counterpart in the same transaction, whichever was logged first.
 * @returns the counterpart's log index, or undefined when it has not come yet.
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
