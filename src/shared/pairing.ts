import type { LogEvent } from "./event.ts";
import { perTransaction } from "./transaction.ts";

type Waiting<Value> = { readonly key: string; readonly value: Value }[];

/** Takes the oldest entry with this key out of the list. */
function take<Value>(waiting: Waiting<Value>, key: string): Value | undefined {
  const index = waiting.findIndex((entry) => entry.key === key);
  return index < 0 ? undefined : waiting.splice(index, 1)[0]?.value;
}

/**
 * Pairs logs of two kinds in one transaction: each with the oldest of the other kind that has the same key and no counterpart
 * yet, whichever was logged first. Both functions return the counterpart's value, or undefined when it has not come yet.
 */
export function pairWithinTransaction<First, Second>() {
  const waiting = perTransaction(() => ({ firsts: [] as Waiting<First>, seconds: [] as Waiting<Second> }));
  return {
    first(event: LogEvent, key: string, value: First): Second | undefined {
      const { firsts, seconds } = waiting(event);
      const counterpart = take(seconds, key);
      if (counterpart === undefined) firsts.push({ key, value });
      return counterpart;
    },
    second(event: LogEvent, key: string, value: Second): First | undefined {
      const { firsts, seconds } = waiting(event);
      const counterpart = take(firsts, key);
      if (counterpart === undefined) seconds.push({ key, value });
      return counterpart;
    },
  };
}
