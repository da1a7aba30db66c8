/** The expected answers of both stats endpoints, from the chain. */
import { expect } from "vitest";
import * as sums from "../../src/support/expected-sums.ts";
import type { Row } from "../../src/support/rows.ts";
import { big, type ChainState } from "./chain-state.ts";
import { activeListings, sales, statuses } from "./expected-lists.ts";

const DAY = 86_400n;
const TOTAL_SUPPLY = 100_000_000n * 10n ** 18n;

const total = (rows: readonly Row[], field: string) => rows.reduce((sum, row) => sum + big(row[field]), 0n);

/** `period` narrows the days. */
export function burnStats(
  { events, now, tokenSupply }: ChainState,
  { from = 0n, to = now + 1n }: { readonly from?: bigint; readonly to?: bigint } = {},
): Row {
  const days = sums.burnDays(events);
  const bySource = sums.burnSources(events);
  const burned = total(bySource, "token_burned");
  expect(burned, "the logs have every burn").toBe(TOTAL_SUPPLY - tokenSupply);
  const today = now / DAY;
  const first = days
    .map((row) => big(row.day_start) / DAY)
    .filter((day) => day >= from / DAY)
    .sort((a, b) => (a < b ? -1 : 1))[0];
  const all =
    first === undefined ? [] : Array.from({ length: Number(today - first) + 1 }, (_, i) => first + BigInt(i));
  const calendar = all.filter((day) => day * DAY < to);
  return {
    total_token_burned: String(burned),
    total_usdc_volume: String(total(bySource, "usdc_spent")),
    last_30_days_burned: String(
      total(
        days.filter((row) => big(row.day_start) / DAY > today - 30n),
        "token_burned",
      ),
    ),
    burns_count: sums.burns(events).length,
    by_day: calendar.map((day) => {
      const row = days.find((other) => big(other.day_start) === day * DAY);
      return {
        day: new Date(Number(day * DAY) * 1000).toISOString().slice(0, 10),
        token_burned: row?.token_burned ?? "0",
        usdc_spent: row?.usdc_spent ?? "0",
        burns: row?.burns ?? 0,
      };
    }),
    by_source: bySource,
  };
}

export function protocolStats(chainState: ChainState): Row {
  const { events, policies, listings, vault, balances, tokenSupply } = chainState;
  const summed = sums.protocolSums(events);
  const now = statuses(chainState);
  const count = (status: string) => now.filter((other) => other === status).length;
  const queued = vault.queue.filter(({ status }) => status === "queued");
  const outstanding = total(balances, "balance");
  const dollars = (total: string) => big(total) / 10n ** 18n;
  expect(dollars(vault.state.committed), "the vault's commitments are the bonds").toBe(outstanding);
  expect(dollars(vault.state.queued), "and its queue the entries").toBe(total(queued, "usd_amount"));
  return {
    active_policies: count("Active"),
    policies_total: policies.length,
    policies_triggered: count("Triggered"),
    bonds_outstanding_usd: String(outstanding),
    bonds_queued_usd: String(total(queued, "usd_amount")),
    total_premium_collected: String(total(policies, "premium")),
    coverage_total: String(total(policies, "coverage")),
    marketplace_volume_total: summed.market_volume,
    marketplace_sales: summed.sales,
    active_listings: listings.filter(({ active }) => active === true).length,
    token_total_burned: String(TOTAL_SUPPLY - tokenSupply),
    token_circulating: String(tokenSupply),
  };
}

export function marketStats(chainState: ChainState): Row {
  const active = activeListings(chainState);
  const all = sales(chainState);
  const today = all.filter(({ soldAt }) => big(soldAt) > chainState.now - DAY);
  const lowest = (field: string) => {
    const [first] = active.map((row) => big(row[field])).sort((a, b) => (a < b ? -1 : 1));
    return first === undefined ? null : String(first);
  };
  return {
    floor: lowest("totalPriceUsdc"),
    floorPerUnit: lowest("pricePerUnit"),
    volume24h: String(total(today, "totalPriceUsdc")),
    sales24h: today.length,
    totalListings: active.length,
    totalVolume: String(total(all, "totalPriceUsdc")),
    totalSales: all.length,
    totalFees: String(total(all, "sellerFeeUsdc") + total(all, "buyerFeeUsdc")),
  };
}
