/** The expected figures of the market and the burners by UTC day, and of pauses and prices, from the chain. */
import { expect } from "vitest";
import type { ChainEvent } from "../../src/support/logs.ts";
import type { Row } from "../../src/support/rows.ts";
import { big, type ChainState, checksummed, named } from "./chain-state.ts";
import { marketStats } from "./expected-stats.ts";
import { quotient, tokenPrice } from "./expected-vault.ts";

const DAY = 86_400n;
const YEAR = 365n * DAY;
const HOUR = 3_600n;

const sum = (events: readonly ChainEvent[], ...fields: string[]) =>
  events.reduce((total, { args }) => fields.reduce((value, field) => value + big(args[field]), total), 0n);

const dayOf = ({ position }: ChainEvent) => big(position.block_timestamp) / DAY;

/** The UTC days from the first of these events to that of `now`, by number, with their events. */
function calendar(events: readonly ChainEvent[], now: bigint, period: { from?: bigint; to?: bigint }) {
  const { from = 0n, to = now + 1n } = period;
  const within = events.filter((event) => dayOf(event) >= from / DAY);
  const [first] = within.map(dayOf).sort((a, b) => Number(a - b));
  const days: { day: string; events: ChainEvent[] }[] = [];
  for (let day = first ?? now; day * DAY < to && day * DAY <= now; day += 1n) {
    const own = within.filter((event) => dayOf(event) === day);
    days.push({ day: new Date(Number(day * DAY) * 1000).toISOString().slice(0, 10), events: own });
  }
  return days;
}

function salesBody(sales: readonly ChainEvent[], listings: readonly Row[]): Row {
  const amounts = sales.map(({ args }) =>
    big(listings.find(({ listing_id }) => listing_id === args.listingId)?.amount),
  );
  const sold = amounts.reduce((total, amount) => total + amount, 0n);
  const volume = sum(sales, "priceUSDC");
  return {
    sales: sales.length,
    sold_usd: String(sold),
    volume_usdc: String(volume),
    fees_usdc: String(sum(sales, "sellerFee", "buyerFee")),
    average_price: sold === 0n ? null : String(volume / sold),
  };
}

export type Period = { readonly from?: bigint; readonly to?: bigint };

export function market(chainState: ChainState, period: Period = {}): Row {
  const { events, listings, maturities, now } = chainState;
  const sales = named(events, "Bought");
  const epochs = [...new Set(listings.map(({ epoch_id }) => String(epoch_id)))].sort();
  const overall = marketStats(chainState);
  return {
    by_day: calendar(sales, now, period).map(({ day, events: own }) => ({
      day,
      ...salesBody(own, listings),
    })),
    by_epoch: epochs.flatMap((epoch_id) => {
      const own = listings.filter((listing) => listing.epoch_id === epoch_id);
      const active = own.filter((listing) => listing.active === true);
      const sold = sales.filter(({ args }) => own.some(({ listing_id }) => listing_id === args.listingId));
      const [floor = null] = active
        .map(({ price, amount }) => big(price) / big(amount))
        .sort((a, b) => Number(a - b));
      const maturity = maturities.get(epoch_id);
      const left = maturity === undefined ? 0n : big(maturity) - now;
      return [
        {
          epoch_id,
          maturity_date: maturity ?? null,
          active_listings: active.length,
          listed_usd: String(active.reduce((total, { amount }) => total + big(amount), 0n)),
          floor_price: floor === null ? null : String(floor),
          floor_to_face: floor === null ? null : quotient(floor, 1_000_000n),
          implied_yield:
            floor === null || left <= 0n ? null : quotient((1_000_000n - floor) * YEAR, floor * left),
          ...salesBody(sold, listings),
        },
      ];
    }),
    floor_price: overall.floorPerUnit,
    sales_24h: overall.sales24h,
    volume_24h_usdc: overall.volume24h,
  };
}

export function burners(chainState: ChainState, period: Period = {}): Row {
  const { events, now, router, burners: contracts } = chainState;
  const names = ["PremiumReceived", "Bought", "BurnExecuted", "DoubleBurnExecuted"];
  // Anybody may pay the burner: a premium comes from the router.
  const isGift = ({ name, args }: ChainEvent) => name === "PremiumReceived" && args.from !== router;
  const flows = events.filter((event) => names.includes(event.name) && !isGift(event));
  const body = (own: readonly ChainEvent[], source: string) => {
    const isBurner = source === "twap_burner";
    const burns = named(own, isBurner ? "BurnExecuted" : "DoubleBurnExecuted");
    return {
      premium_usdc: String(isBurner ? sum(named(own, "PremiumReceived"), "amount") : 0n),
      fee_usdc: String(isBurner ? sum(named(own, "Bought"), "sellerFee", "buyerFee") : 0n),
      spent_usdc: String(isBurner ? sum(burns, "usdcSpent") : 0n),
      token_burned: String(sum(burns, "tokenBurned")),
      burns: burns.length,
    };
  };
  return {
    by_day: calendar(flows, now, period).flatMap(({ day, events: own }) =>
      contracts.map(({ source }) => ({ day, source, ...body(own, source) })),
    ),
    burners: contracts.map(({ source, address, usdc }) => ({
      ...{ source, address, ...body(flows, source) },
      pending_usdc: String(usdc),
    })),
  };
}

const scopes = {
  router: ["Paused"],
  auto: ["AutoPauseActivated", "AutoPauseDeactivated"],
  global: ["GlobalPauseToggled"],
  sequencer: ["SequencerStatus"],
};

/** The sequencer's statuses as events that begin a pause and end it, at the time that its feed tells. */
const outages = ({ sequencerEvents }: ChainState) =>
  sequencerEvents.map(({ up, started_at, block_number, log_index, block_hash, tx_hash }) => ({
    name: "SequencerStatus",
    args: { paused: !up },
    position: {
      block_number: String(block_number),
      log_index: Number(log_index),
      block_hash: String(block_hash),
      block_timestamp: String(started_at),
      tx_hash: String(tx_hash),
    },
  }));

type PauseEvent = Pick<ChainEvent, "name" | "args" | "position">;

/** The pauses of a scope, the oldest first, by playing its events. */
function pausesOf(chainState: ChainState, scope: keyof typeof scopes) {
  const pauses: { start: PauseEvent; end?: PauseEvent }[] = [];
  const events: readonly PauseEvent[] = [...chainState.events, ...outages(chainState)];
  for (const event of events.filter(({ name }) => scopes[scope].includes(name))) {
    const isPaused = event.args.state ?? event.args.paused ?? event.name === "AutoPauseActivated";
    const open = pauses.findLast(({ end }) => end === undefined);
    if (isPaused && !open) pauses.push({ start: event });
    if (!isPaused && open) open.end = event;
  }
  return pauses;
}

/** Seconds to the end or to the newest block, whichever is earlier: a mock feed takes any time. */
function lasted(start: PauseEvent, end: PauseEvent | undefined, now: bigint): number {
  const [begun, ended] = [big(start.position.block_timestamp), big(end?.position.block_timestamp ?? now)];
  const last = ended < now ? ended : now;
  return last > begun ? Number(last - begun) : 0;
}

/** The pauses, the newest first, and the rest of the body. */
export function pauses(chainState: ChainState): { rows: Row[]; rest: Row } {
  const { now, sequencer } = chainState;
  const orNull = (value: unknown) => (value === undefined ? null : value);
  const place = ({ position }: PauseEvent) => Number(position.block_number) * 1e5 + position.log_index;
  const all = (["router", "auto", "global", "sequencer"] as const).flatMap((scope) =>
    pausesOf(chainState, scope).map((pause) => ({ scope, ...pause })),
  );
  const stateOf = (scope: keyof typeof scopes) => {
    const newest = pausesOf(chainState, scope).at(-1);
    const change = newest?.end ?? newest?.start;
    return {
      paused: newest !== undefined && newest.end === undefined,
      since: orNull(change?.position.block_timestamp),
    };
  };
  const since = big(sequencer.started_at);
  return {
    rows: all
      .sort((a, b) => place(b.start) - place(a.start))
      .map(({ scope, start, end }) => ({
        scope,
        started_at: start.position.block_timestamp,
        ended_at: orNull(end?.position.block_timestamp),
        duration_seconds: lasted(start, end, now),
        started_by: start.args.by === undefined ? null : checksummed(start.args.by),
        ended_by: end?.args.by === undefined ? null : checksummed(end.args.by),
        start_price: orNull(start.args.priceWei),
        end_price: orNull(end?.args.priceWei),
        end_tx_hash: orNull(end?.position.tx_hash),
        tx_hash: start.position.tx_hash,
        block_number: start.position.block_number,
        log_index: start.position.log_index,
      })),
    rest: {
      state: { router: stateOf("router"), auto: stateOf("auto"), global: stateOf("global") },
      sequencer: {
        up: sequencer.up,
        since: String(since),
        accepted: sequencer.up === true && since > 0n && now > since + HOUR,
      },
    },
  };
}

export function prices(chainState: ChainState): Row {
  const { prices: rounds, now } = chainState;
  expect(rounds).toHaveLength(2);
  return {
    feeds: rounds.map(({ asset, round_id, answer, updated_at }, place) => {
      const age = now - big(updated_at);
      return {
        symbol: ["BTC", "ETH"][place],
        asset,
        answer,
        round_id,
        updated_at,
        age_seconds: Number(age),
        fresh: big(answer) > 0n && age <= HOUR,
      };
    }),
    token: tokenPrice(chainState),
  };
}
