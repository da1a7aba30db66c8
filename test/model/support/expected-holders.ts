/** The expected lists of holders and buyers, from the chain. */
import type { Row } from "../../src/support/rows.ts";
import { big, type ChainState, checksummed, named } from "./chain-state.ts";
import { quotient } from "./expected-vault.ts";

type Ranked = { readonly wallet: string; readonly amount: bigint };

const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);

/** By amount, the largest first; of equal ones the highest address. */
const ranked = (amounts: ReadonlyMap<string, bigint>): Ranked[] =>
  [...amounts]
    .map(([wallet, amount]) => ({ wallet, amount }))
    .filter(({ amount }) => amount > 0n)
    .sort((a, b) => (a.amount === b.amount ? (a.wallet < b.wallet ? 1 : -1) : a.amount < b.amount ? 1 : -1));

const top = (all: readonly Ranked[]) => sum(all.slice(0, 10).map(({ amount }) => amount));

/** Balances and listed bonds of each wallet but the marketplace. */
function bondsByHolder({ balances, listings, marketplace }: ChainState, epoch: string | undefined): Ranked[] {
  const bonds = new Map<string, bigint>();
  const add = (wallet: unknown, amount: unknown) =>
    bonds.set(String(wallet), (bonds.get(String(wallet)) ?? 0n) + big(amount));
  const isOf = ({ epoch_id }: Row) => epoch === undefined || epoch_id === epoch;
  for (const held of balances.filter(isOf)) add(held.owner, held.balance);
  for (const listing of listings.filter(isOf)) if (listing.active) add(listing.seller, listing.amount);
  bonds.delete(marketplace.toLowerCase());
  return ranked(bonds);
}

/** The rows of `stats/holders`, and the rest of the body. */
export function holders(chainState: ChainState, epoch?: string) {
  const { supplies } = chainState;
  const all = bondsByHolder(chainState, epoch);
  const outstanding = epoch === undefined ? sum([...supplies.values()]) : (supplies.get(epoch) ?? 0n);
  return {
    rows: all.map(({ wallet, amount }) => ({
      holder: checksummed(wallet),
      bonds_usd: String(amount),
      share: quotient(amount, outstanding),
    })),
    rest: {
      holders_total: all.length,
      outstanding_usd: String(outstanding),
      top_10_share: quotient(top(all), outstanding),
      by_epoch: [...supplies]
        .map(([epoch_id, supply]) => ({
          epoch_id,
          holders: bondsByHolder(chainState, epoch_id).length,
          outstanding_usd: String(supply),
        }))
        .sort((a, b) => Number(a.epoch_id) - Number(b.epoch_id)),
    },
  };
}

/** The rows of `stats/buyers`, and the rest of the body. */
export function buyers({ events }: ChainState) {
  const purchases = named(events, "PolicyPurchased");
  const coverage = new Map<string, bigint>();
  for (const { args } of purchases) {
    const buyer = String(args.buyer);
    coverage.set(buyer, (coverage.get(buyer) ?? 0n) + big(args.coverage));
  }
  const all = ranked(coverage);
  const total = sum(all.map(({ amount }) => amount));
  return {
    rows: all.map(({ wallet, amount }) => {
      const own = purchases.filter(({ args }) => args.buyer === wallet);
      return {
        buyer: checksummed(wallet),
        policies: own.length,
        coverage_usdc: String(amount),
        premium_usdc: String(sum(own.map(({ args }) => big(args.premium)))),
        share: quotient(amount, total),
      };
    }),
    rest: {
      buyers_total: all.length,
      coverage_usdc: String(total),
      top_10_share: quotient(top(all), total),
    },
  };
}
