/** The expected figures of the vault, the maturities and the redemption queue, from the chain. */
import { expect } from "vitest";
import { burnPriceOf, type ChainEvent } from "../../src/support/logs.ts";
import type { Row } from "../../src/support/rows.ts";
import { big, type ChainState, checksummed, named } from "./chain-state.ts";

const WEEK = 604_800n;
const USDC = 10n ** 30n;
const text = (value: bigint | null) => (value === null ? null : String(value));
const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);

/** A quotient with 6 digits. */
export function quotient(part: bigint, whole: bigint): string | null {
  if (whole === 0n) return null;
  const sign = part < 0n !== whole < 0n && part !== 0n ? "-" : "";
  const [a, b] = [part < 0n ? -part : part, whole < 0n ? -whole : whole];
  const shown = `${sign}${a / b}.${String(((a % b) * 1_000_000n) / b).padStart(6, "0")}`;
  return shown === "-0.000000" ? "0.000000" : shown;
}

const priceNames = { PolicyPriceSnapshot: "purchase", BurnExecuted: "burn" } as const;

function priceOf({ name, args }: ChainEvent): { source: string; price: bigint } | undefined {
  if (name === "PolicyPriceSnapshot") return { source: priceNames[name], price: big(args.priceSnapshot) };
  if (name === "BurnExecuted") return { source: priceNames[name], price: burnPriceOf(args.effectivePrice) };
  if (name === "BondRedeemed" || name === "QueueProcessed")
    return { source: "redemption", price: big(args.priceUsed) };
  return undefined;
}

/** The newest price in an event; undefined before the first. */
function observedPrice({ events, now }: ChainState) {
  const event = events.findLast((one) => priceOf(one) !== undefined);
  const found = event && priceOf(event);
  if (!found) return undefined;
  const { block_number, block_timestamp } = event.position;
  return {
    price: found.price,
    body: {
      price: String(found.price),
      source: found.source,
      block_number,
      observed_at: block_timestamp,
      age_seconds: Number(now - big(block_timestamp)),
    },
  };
}

export const tokenPrice = (chainState: ChainState): Row | null => observedPrice(chainState)?.body ?? null;

export function vaultStats(chainState: ChainState): Row {
  const { vault, throttle, tokenPrice: feedPrice } = chainState;
  const { reserve, total_reserved, obligations } = vault.state;
  const price = observedPrice(chainState)?.price;
  const value = price === undefined ? null : (big(reserve) * price) / USDC;
  const owed = big(obligations) * 1_000_000n;
  const taken = big(total_reserved) + owed;
  const capacity = value === null ? null : value < taken ? 0n : value - taken;
  if (price === feedPrice) expect(capacity, "the capacity is the contract's").toBe(throttle.capacity);
  return {
    reserve_token: reserve,
    reserve_usdc: text(value),
    reserved_usdc: total_reserved,
    obligations_usd: obligations,
    capacity_usdc: text(capacity),
    utilisation: value === null ? null : quotient(taken, value),
    solvency_ratio: value === null ? null : quotient(value, owed),
    tvl_usdc: text(value),
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
  const paid = new Set(named(events, "QueueProcessed").map(({ args }) => args.queueId));
  const queue = named(events, "BondQueued");
  const inQueue = (epochId: string, isPaid: boolean) =>
    sum(
      queue
        .filter(({ args }) => args.epochId === epochId && paid.has(args.queueId) === isPaid)
        .map(({ args }) => big(args.usdAmount)),
    );
  const rows = [...supplies].map(([epochId, supply]) => {
    const amounts = {
      minted_usd: dollars("BondsMinted", epochId),
      redeemed_usd: dollars("BondRedeemed", epochId) + inQueue(epochId, true),
      queued_usd: inQueue(epochId, false),
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

/** Plays the coming weeks by the vault's rules, at a constant price. @returns the week in which each entry is paid. */
function playQueue(chainState: ChainState, waiting: readonly Row[], price: bigint) {
  const { vault, throttle, now } = chainState;
  const paidIn = new Map<unknown, bigint>();
  let reserve = big(vault.state.reserve);
  let next = 0;
  for (let week = now / WEEK, idle = 0; next < waiting.length && idle < 3; week += 1n, idle += 1) {
    const isCurrent = week === throttle.week;
    const limit = ((isCurrent ? throttle.reserveAtStart : reserve) * 108n) / 10_000n;
    for (let paid = isCurrent ? throttle.paid : 0n; next < waiting.length; next += 1, idle = 0) {
      const entry = waiting[next];
      const tokens = (big(entry?.usd_amount) * 10n ** 36n) / price;
      const fits = tokens + paid <= limit || paid === 0n;
      if (big(entry?.target_epoch) > week || !fits || tokens > reserve) break;
      paidIn.set(entry?.queue_id, week);
      [paid, reserve] = [paid + tokens, reserve - tokens];
    }
  }
  return paidIn;
}

/** The waiting entries in the order of their payment, and the rest of the body. */
export function queue(chainState: ChainState): { entries: Row[]; rest: Row } {
  const { vault, throttle, events, now } = chainState;
  const waiting = vault.queue.filter(({ status }) => status === "queued");
  const price = observedPrice(chainState)?.price;
  const weeks = price === undefined ? new Map() : playQueue(chainState, waiting, price);
  const usdOf = (rows: readonly Row[]) => sum(rows.map(({ usd_amount }) => big(usd_amount)));
  const start = (week: unknown) => (week === undefined ? null : String(big(week) * WEEK));
  const entries = waiting.map((entry, place) => {
    const event = named(events, "BondQueued").find(({ args }) => args.queueId === entry.queue_id);
    return {
      queue_id: entry.queue_id,
      holder: checksummed(entry.holder),
      epoch_id: entry.epoch_id,
      usd_amount: entry.usd_amount,
      ahead_usd: String(usdOf(waiting.slice(0, place))),
      target_week: entry.target_epoch,
      payable_from: start(entry.target_epoch),
      expected_from: start(weeks.get(entry.queue_id)),
      tx_hash: event?.position.tx_hash,
      block_number: event?.position.block_number,
      block_timestamp: event?.position.block_timestamp,
      log_index: event?.position.log_index,
    };
  });
  const week = now / WEEK;
  const isCurrent = throttle.week === week;
  const paid = isCurrent ? throttle.paid : 0n;
  const limit = ((isCurrent ? throttle.reserveAtStart : big(vault.state.reserve)) * 108n) / 10_000n;
  const left = limit > paid ? limit - paid : 0n;
  const due = waiting.filter(({ target_epoch }) => big(target_epoch) <= week);
  return {
    entries,
    rest: {
      waiting: { entries: waiting.length, usd: String(usdOf(waiting)), due_usd: String(usdOf(due)) },
      throttle: {
        week: String(week),
        ends_at: String((week + 1n) * WEEK),
        limit_token: String(limit),
        paid_token: String(paid),
        left_token: String(left),
        left_usdc: price === undefined ? null : String((left * price) / USDC),
      },
      token_price: tokenPrice(chainState),
    },
  };
}
