/** The expected figures of the vault, the maturities and the redemption queue, from the chain. */
import { expect } from "vitest";
import { type Entry, queueOf } from "../../src/support/queue.ts";
import type { Row } from "../../src/support/rows.ts";
import { big, type ChainState, checksummed, named } from "./chain-state.ts";

const WEEK = 604_800n;
const DOLLAR = 10n ** 18n;
const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);

/** A quotient with 6 digits. */
export function quotient(part: bigint, whole: bigint): string | null {
  if (whole === 0n) return null;
  const sign = part < 0n !== whole < 0n && part !== 0n ? "-" : "";
  const [a, b] = [part < 0n ? -part : part, whole < 0n ? -whole : whole];
  const shown = `${sign}${a / b}.${String(((a % b) * 1_000_000n) / b).padStart(6, "0")}`;
  return shown === "-0.000000" ? "0.000000" : shown;
}

/** The price by which the vault's views count. */
export const tokenPrice = ({ throttle, block, now }: ChainState): Row => ({
  price: String(throttle.price),
  source: "vault",
  block_number: String(block),
  observed_at: String(now),
  age_seconds: 0,
});

export function vaultStats(chainState: ChainState): Row {
  const { vault, throttle } = chainState;
  const { reserve, total_reserved, committed, queued } = vault.state;
  // Dollars with 18 decimals, as the vault counts; USDC has 6.
  const value = (big(reserve) * throttle.price) / DOLLAR;
  const owed = big(committed) + big(queued);
  const taken = big(total_reserved) * 10n ** 12n + owed;
  const limit = value / 2n;
  const free = limit < taken ? 0n : limit - taken;
  expect(free / DOLLAR, "the capacity is the contract's").toBe(throttle.capacity);
  const worth = String(value / 10n ** 12n);
  return {
    reserve_token: reserve,
    reserve_usdc: worth,
    reserved_usdc: total_reserved,
    obligations_usd: String(owed / DOLLAR),
    capacity_usdc: `${free / DOLLAR}${"0".repeat(free < DOLLAR ? 0 : 6)}`,
    utilisation: quotient(taken, limit),
    solvency_ratio: quotient(value, owed),
    tvl_usdc: worth,
    token_price: tokenPrice(chainState),
  };
}

/** The ladder; in each row minted − redeemed − queued − surrendered is the supply that the contract tells. */
export function maturities({ events, listings, maturities: dates, supplies, now }: ChainState): Row {
  const dollars = (name: string, epochId: string, field = "usdAmount") =>
    sum(
      named(events, name)
        .filter(({ args }) => args.epochId === epochId)
        .map(({ args }) => big(args[field])),
    );
  const unpaid = queueOf(events).filter(({ payment }) => payment === undefined);
  const inQueue = (epochId: string) =>
    sum(
      unpaid
        .filter(({ event }) => event.args.epochIdBond === epochId)
        .map(({ event }) => big(event.args.usdAmount)),
    );
  const rows = [...supplies].map(([epochId, supply]) => {
    const amounts = {
      minted_usd: dollars("BondsMinted", epochId),
      redeemed_usd: dollars("BondRedeemed", epochId),
      queued_usd: inQueue(epochId),
      surrendered_usd: dollars("BondsBurnedByHolder", epochId, "amount"),
      outstanding_usd: supply,
      listed_usd: sum(
        listings
          .filter(({ epoch_id, active }) => epoch_id === epochId && active === true)
          .map(({ amount }) => big(amount)),
      ),
    };
    const { minted_usd, redeemed_usd, queued_usd, surrendered_usd } = amounts;
    expect(minted_usd - redeemed_usd - queued_usd - surrendered_usd, `the supply of ${epochId}`).toBe(supply);
    return { epochId, amounts };
  });
  const shown = (all: readonly (typeof rows)[number][]) => {
    const total = (field: keyof (typeof rows)[number]["amounts"]) =>
      String(sum(all.map(({ amounts }) => amounts[field])));
    return {
      minted_usd: total("minted_usd"),
      redeemed_usd: total("redeemed_usd"),
      queued_usd: total("queued_usd"),
      surrendered_usd: total("surrendered_usd"),
      outstanding_usd: total("outstanding_usd"),
      listed_usd: total("listed_usd"),
    };
  };
  return {
    epochs: rows
      .sort((a, b) => Number(a.epochId) - Number(b.epochId))
      .map((row) => ({
        epoch_id: row.epochId,
        maturity_date: dates.get(row.epochId) ?? null,
        matured: now >= big(dates.get(row.epochId) ?? 2n ** 64n),
        ...shown([row]),
      })),
    total: shown(rows),
  };
}

/** Plays the calls of the coming weeks by the vault's rules, at a constant price. @returns the entries that are paid. */
function playQueue(chainState: ChainState, waiting: readonly Entry[], price: bigint) {
  const { vault, throttle, now } = chainState;
  const paid = new Set<Entry>();
  let reserve = big(vault.state.reserve);
  for (const week of new Set(waiting.map((entry) => entry.week))) {
    if (week < now / WEEK) continue;
    let redeemed = week === throttle.week ? throttle.redeemed : 0n;
    const own = waiting.filter((entry) => entry.week === week);
    for (let before = -1; before !== paid.size; ) {
      before = paid.size;
      const cap = (((reserve * price) / DOLLAR) * 108n) / 10_000n;
      const first = own.find((entry) => !paid.has(entry));
      // Twenty places of the contract's list, which keeps paid entries.
      const seen = first ? own.filter(({ id }) => big(id) < big(first.id) + 20n) : [];
      for (const entry of seen) {
        const dollars = big(entry.event.args.usdAmount) * DOLLAR;
        if (paid.has(entry) || redeemed + dollars > cap) continue;
        [redeemed, reserve] = [redeemed + dollars, reserve - (dollars * DOLLAR) / price];
        paid.add(entry);
      }
    }
  }
  return paid;
}

/** The unpaid entries in the order of their ids, and the rest of the body. */
export function queue(chainState: ChainState): { entries: Row[]; rest: Row } {
  const { vault, throttle, events, now } = chainState;
  const waiting = queueOf(events)
    .filter(({ payment }) => payment === undefined)
    .sort((a, b) => Number(a.id) - Number(b.id));
  const { price } = throttle;
  const paid = playQueue(chainState, waiting, price);
  const week = now / WEEK;
  const usdOf = (entries: readonly Entry[]) => sum(entries.map(({ event }) => big(event.args.usdAmount)));
  const start = (of: bigint) => String(of * WEEK);
  const entries = waiting.map((entry, place) => {
    const { id, event } = entry;
    const isStranded = entry.week < week;
    const before = waiting.slice(0, place).filter((other) => other.week === entry.week);
    return {
      queue_id: id,
      status: isStranded ? "stranded" : "queued",
      holder: checksummed(event.args.holder),
      epoch_id: event.args.epochIdBond,
      usd_amount: event.args.usdAmount,
      ahead_usd: isStranded ? "0" : String(usdOf(before)),
      target_week: String(entry.week),
      payable_from: start(entry.week),
      expected_from: paid.has(entry) ? start(entry.week) : null,
      tx_hash: event.position.tx_hash,
      block_number: event.position.block_number,
      block_timestamp: event.position.block_timestamp,
      log_index: event.position.log_index,
    };
  });
  const limit = (big(vault.state.reserve) * 108n) / 10_000n;
  const paidTokens = sum(
    named(events, "BondRedeemed")
      .filter(({ position }) => big(position.block_timestamp) / WEEK === week)
      .map(({ args }) => big(args.luminaAmount)),
  );
  const cap = (((big(vault.state.reserve) * price) / DOLLAR) * 108n) / 10_000n;
  expect(cap / DOLLAR, "the cap is the contract's").toBe(throttle.cap);
  const redeemed = throttle.week === week ? throttle.redeemed : 0n;
  const left = cap > redeemed ? cap - redeemed : 0n;
  const due = waiting.filter((entry) => entry.week === week);
  return {
    entries,
    rest: {
      waiting: { entries: waiting.length, usd: String(usdOf(waiting)), due_usd: String(usdOf(due)) },
      throttle: {
        week: String(week),
        ends_at: start(week + 1n),
        limit_token: String(limit),
        paid_token: String(paidTokens),
        left_token: String((left * DOLLAR) / price),
        left_usdc: String(left / 10n ** 12n),
      },
      token_price: tokenPrice(chainState),
    },
  };
}
