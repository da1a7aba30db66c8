/** The sums and the activity feed, computed from the chain's events without code of the projections. */
import type { Arguments, ChainEvent } from "./logs.ts";
import { queueOf } from "./queue.ts";
import type { Row } from "./rows.ts";

const DAY = 86_400n;

const big = (value: unknown) => BigInt(String(value));
const named = (events: readonly ChainEvent[], ...names: string[]) =>
  events.filter(({ name }) => names.includes(name));
const total = (events: readonly ChainEvent[], arg: string) =>
  events.reduce((sum, { args }) => sum + big(args[arg]), 0n);

/** Groups events by a key and makes a row of each group. */
function grouped(
  events: readonly ChainEvent[],
  key: (event: ChainEvent) => string,
  row: (key: string, group: readonly ChainEvent[]) => Row,
): Row[] {
  const groups = new Map<string, ChainEvent[]>();
  for (const event of events) groups.set(key(event), [...(groups.get(key(event)) ?? []), event]);
  return [...groups].map(([name, group]) => row(name, group));
}

export type Burn = { readonly event: ChainEvent; readonly source: string; readonly usdc: bigint };

/**
 * The burns: those of the burner's own tokens that it reports in the same transaction, those of the reserve that the buyback
 * engine reports, and the others.
 */
export function burns(events: readonly ChainEvent[]): Burn[] {
  const reserve = new Set(named(events, "ReservesBurned").map(({ address }) => address));
  return named(events, "Transfer").map((event) => {
    const report = (name: string) =>
      named(events, name).find(
        ({ position, args }) =>
          position.tx_hash === event.position.tx_hash && args.tokenBurned === event.args.value,
      );
    const execution = report("BurnExecuted");
    if (execution?.address === event.args.from)
      return { event, source: "twap_burner", usdc: big(execution?.args.usdcSpent) };
    const isBuyback = report("DoubleBurnExecuted") !== undefined && reserve.has(String(event.args.from));
    return { event, source: isBuyback ? "buyback_engine" : "direct", usdc: 0n };
  });
}

/** One row for each day with burns. */
export function burnDays(events: readonly ChainEvent[]): Row[] {
  const dayOf = ({ position }: ChainEvent) => String((big(position.block_timestamp) / DAY) * DAY);
  return grouped(named(events, "Transfer", "BurnExecuted"), dayOf, (day_start, group) => ({
    day_start,
    token_burned: String(total(named(group, "Transfer"), "value")),
    usdc_spent: String(total(named(group, "BurnExecuted"), "usdcSpent")),
    burns: named(group, "Transfer").length,
  }));
}

export function burnSources(events: readonly ChainEvent[]): Row[] {
  const all = burns(events);
  return ["twap_burner", "buyback_engine", "direct"].map((source) => {
    const own = all.filter((burn) => burn.source === source);
    return {
      source,
      token_burned: String(own.reduce((sum, { event }) => sum + big(event.args.value), 0n)),
      usdc_spent: String(own.reduce((sum, { usdc }) => sum + usdc, 0n)),
      burns: own.length,
    };
  });
}

export function accounts(events: readonly ChainEvent[]): Row[] {
  return grouped(
    named(events, "PolicyPurchased"),
    ({ args }) => String(args.buyer),
    (address, group) => ({ address, policies: group.length }),
  );
}

export function productSums(events: readonly ChainEvent[]): Row[] {
  const relevant = named(events, "PolicyPurchased", "PolicyTriggered");
  return grouped(
    relevant,
    ({ args }) => String(args.productId),
    (product_id, group) => ({
      product_id,
      policies: named(group, "PolicyPurchased").length,
      triggered: named(group, "PolicyTriggered").length,
      untouched: named(group, "PolicyPurchased").length - named(group, "PolicyTriggered").length,
      coverage: String(total(named(group, "PolicyPurchased"), "coverage")),
      premium: String(total(named(group, "PolicyPurchased"), "premium")),
      payout: String(total(named(group, "PolicyPurchased"), "payout")),
      paid: String(total(named(group, "PolicyTriggered"), "bondAmount")),
    }),
  );
}

const zero = `0x${"0".repeat(40)}`;

export function protocolSums(events: readonly ChainEvent[]): Row {
  const purchases = named(events, "PolicyPurchased");
  const transfers = named(events, "TransferSingle");
  const minted = transfers.filter(({ args }) => args.from === zero);
  const burned = transfers.filter(({ args }) => args.to === zero);
  const queued = named(events, "BondQueued");
  const paid = queueOf(events).flatMap(({ event, payment }) => (payment ? [event] : []));
  const sales = named(events, "Bought");
  const listings = named(events, "Listed").length;
  const closed = named(events, "Bought", "Cancelled").length;
  return {
    id: "protocol",
    policies: purchases.length,
    coverage: String(total(purchases, "coverage")),
    premium: String(total(purchases, "premium")),
    triggered: named(events, "PolicyTriggered").length,
    bonds_outstanding: String(total(minted, "value") - total(burned, "value")),
    bonds_issued: String(total(named(events, "BondIssued"), "usdAmount")),
    bonds_redeemed: String(total(named(events, "BondRedeemed"), "usdAmount")),
    bonds_queued: String(total(queued, "usdAmount") - total(paid, "usdAmount")),
    listings,
    active_listings: listings - closed,
    sales: sales.length,
    market_volume: String(total(sales, "priceUSDC")),
    market_fees: String(total(sales, "sellerFee") + total(sales, "buyerFee")),
    token_burned: String(total(named(events, "Transfer"), "value")),
    burns: named(events, "Transfer").length,
    burn_usdc_spent: String(total(named(events, "BurnExecuted"), "usdcSpent")),
  };
}

/** The activity feed. */
export function activities(events: readonly ChainEvent[]): Row[] {
  const sources = new Map(burns(events).map(({ event, source }) => [event, source]));
  const entry: Record<string, (event: ChainEvent) => Arguments> = {
    PolicyPurchased: ({ args }) => ({
      type: "policy_purchased",
      actor: args.buyer,
      amount: args.coverage,
      ref: `${args.productId}:${args.policyId}`,
    }),
    BondIssued: ({ args }) => ({
      type: "bond_minted",
      actor: args.to,
      amount: args.usdAmount,
      ref: args.epochId,
    }),
    BondRedeemed: ({ args }) => ({
      type: "bond_redeemed",
      actor: args.holder,
      amount: args.usdAmount,
      ref: args.epochId,
    }),
    Bought: ({ args }) => ({
      type: "marketplace_buy",
      actor: args.buyer,
      amount: args.priceUSDC,
      ref: args.listingId,
    }),
    Transfer: (event) => ({
      type: "token_burned",
      actor: event.args.from,
      amount: event.args.value,
      ref: sources.get(event),
    }),
  };
  return events.flatMap((event) => {
    const row = entry[event.name]?.(event);
    return row === undefined ? [] : [{ ...event.position, ...row }];
  });
}
