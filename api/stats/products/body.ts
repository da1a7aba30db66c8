import type { OpenPolicies } from "../cover/queries.ts";
import { ratio } from "../ratio.ts";
import { noSums, type ProductSums } from "./queries.ts";

/** USDC base units of a dollar. */
const DOLLAR = 1_000_000n;
/** A premium is twice the expected payout: the protocol's margin is 2.00. */
const MARGIN = 2n;

type Sums = Omit<ProductSums, "productId" | "name" | "asset">;
type Open = { readonly active: number; readonly waiting: number };

const figuresOf = (sums: Sums, { active, waiting }: Open) => {
  const expired = sums.untouched - active - waiting;
  const { premium, premiumRefunded, payout, paid } = sums;
  return {
    policies: sums.policies,
    active,
    waiting,
    triggered: sums.triggered,
    expired,
    cancelled: sums.cancelled,
    coverage: String(sums.coverage),
    premium: String(premium),
    premium_refunded: String(premiumRefunded),
    payout: String(payout),
    paid: String(paid),
    loss_ratio: ratio(paid * DOLLAR, premium - premiumRefunded),
    realised_trigger_rate: ratio(BigInt(sums.triggered), BigInt(sums.triggered + expired)),
    break_even_trigger_rate: ratio(premium, payout),
    modelled_trigger_rate: ratio(premium, payout * MARGIN),
  };
};

const add = (a: Sums, b: Sums): Sums => ({
  policies: a.policies + b.policies,
  triggered: a.triggered + b.triggered,
  cancelled: a.cancelled + b.cancelled,
  untouched: a.untouched + b.untouched,
  coverage: a.coverage + b.coverage,
  premium: a.premium + b.premium,
  premiumRefunded: a.premiumRefunded + b.premiumRefunded,
  payout: a.payout + b.payout,
  paid: a.paid + b.paid,
});

/** How many of these policies have a status. */
const openIn = (rows: readonly OpenPolicies[]): Open => {
  const count = (status: boolean) =>
    rows.filter(({ waiting }) => waiting === status).reduce((sum, { policies }) => sum + policies, 0);
  return { active: count(false), waiting: count(true) };
};

/** The products' sums, in their order, and those of all products together. */
export const productStatsBody = (products: readonly ProductSums[], open: readonly OpenPolicies[]) => ({
  products: products.map(({ productId, name, asset, ...sums }) => ({
    product_id: productId,
    product_name: name,
    asset,
    ...figuresOf(sums, openIn(open.filter(({ product_id }) => product_id === productId))),
  })),
  total: figuresOf(products.reduce<Sums>(add, noSums), openIn(open)),
});
