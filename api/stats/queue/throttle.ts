/** The redemption throttle and the queue's payments, by the vault's rules. Dollars, tokens and prices have 18 decimals. */
import { ENTRIES_PER_CALL, WEEK_CAP_BPS } from "../../../lib/vault-rules.ts";
import { BASIS_POINTS, tokensFor, UNIT, unused, weekCap, weekOf } from "../../../lib/vault-units.ts";

/** Redemptions of the current week: the paid tokens, and the dollars (whole) that count for the cap. */
export type WeekSums = { readonly paid: bigint; readonly redeemed: bigint };

export type Throttle = {
  readonly week: bigint;
  /** The limit of the whole week, the payments so far, and the rest of the limit; in tokens. */
  readonly limit: bigint;
  readonly paid: bigint;
  readonly left: bigint;
  /** What is left in dollars; null without a price. */
  readonly leftDollars: bigint | null;
};

/** The week's cap in dollars, at the price and with the reserve of the moment. */
const capOf = (reserve: bigint, price: bigint) => weekCap(reserve, price, WEEK_CAP_BPS);

/** The throttle of the week of `now` (Unix seconds), at a price; undefined before the first price. */
export function throttleAt(
  now: bigint,
  reserve: bigint,
  { paid, redeemed }: WeekSums,
  price: bigint | undefined,
): Throttle {
  const limit = (reserve * WEEK_CAP_BPS) / BASIS_POINTS;
  const common = { week: weekOf(now), limit, paid };
  if (price === undefined) return { ...common, left: unused(limit, paid), leftDollars: null };
  const leftDollars = unused(capOf(reserve, price), redeemed * UNIT);
  return { ...common, left: tokensFor(leftDollars, price), leftDollars };
}

/** An unpaid entry, whole dollars. */
export type WaitingEntry = {
  readonly queueId: bigint;
  readonly usdAmount: bigint;
  readonly targetEpoch: bigint;
};

/** The week of `now` (Unix seconds), what was redeemed in it (whole dollars), the reserve, and the price of all coming weeks. */
export type Situation = {
  readonly now: bigint;
  readonly redeemed: bigint;
  readonly reserve: bigint;
  readonly price: bigint;
};

/**
 * The unpaid entries that the vault will pay in their week, if the price stays as it is, nobody redeems at once or changes the
 * reserve, and the queue is processed in each week until nothing fits. The entries are given in the order of their ids.
 */
export function paidInTheirWeek(entries: readonly WaitingEntry[], situation: Situation): Set<bigint> {
  const { now, price } = situation;
  const paid = new Set<bigint>();
  let { reserve } = situation;
  for (const week of new Set(entries.map(({ targetEpoch }) => targetEpoch))) {
    if (week < weekOf(now)) continue;
    let redeemed = week === weekOf(now) ? situation.redeemed * UNIT : 0n;
    const open = entries.filter(({ targetEpoch }) => targetEpoch === week);
    for (let isOver = false; !isOver; ) {
      isOver = true;
      const cap = capOf(reserve, price);
      // A call looks at consecutive places from the first unpaid one on: entries that were paid count too.
      const first = open.find(({ queueId }) => !paid.has(queueId));
      if (!first) break;
      for (const { queueId, usdAmount } of open) {
        if (queueId >= first.queueId + ENTRIES_PER_CALL) break;
        const dollars = usdAmount * UNIT;
        if (paid.has(queueId) || redeemed + dollars > cap) continue;
        redeemed += dollars;
        reserve -= tokensFor(dollars, price);
        paid.add(queueId);
        isOver = false;
      }
    }
  }
  return paid;
}
