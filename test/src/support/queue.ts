/** The redemption queue, computed from the chain's events without code of the projections. */
import type { ChainEvent } from "./logs.ts";

const WEEK = 604_800n;

export type Entry = {
  readonly id: string;
  readonly week: bigint;
  readonly event: ChainEvent;
  /** Undefined while it is not paid. */
  payment?: ChainEvent;
};

const text = (...values: unknown[]) => values.map(String).join(" ");

/** The entries in the order of their queueing, each with its payment. */
export function queueOf(events: readonly ChainEvent[]): Entry[] {
  const entries: Entry[] = [];
  let burns: { tx: string; key: string }[] = [];
  for (const event of events) {
    const { args, position } = event;
    const key = text(args.holder ?? args.from, args.epochId ?? args.epochIdBond, args.usdAmount);
    if (event.name === "BondsBurned") burns.push({ tx: position.tx_hash, key });
    if (event.name !== "BondRedeemed" && event.name !== "BondQueued") continue;
    const burn = burns.find((one) => one.tx === position.tx_hash && one.key === key);
    burns = burns.filter((one) => one !== burn);
    if (event.name === "BondQueued") {
      const week = BigInt(String(args.targetThrottleEpoch));
      const index = entries.filter((entry) => entry.week === week).length;
      entries.push({ id: String(week * 10_000n + BigInt(index)), week, event });
    } else if (burn === undefined) {
      const week = BigInt(position.block_timestamp) / WEEK;
      const paid = entries.find(
        ({ payment, ...entry }) =>
          entry.week === week &&
          payment === undefined &&
          text(entry.event.args.holder, entry.event.args.epochIdBond, entry.event.args.usdAmount) === key,
      );
      if (paid) paid.payment = event;
    }
  }
  return entries;
}
