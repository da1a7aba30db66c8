import { ratio } from "../ratio.ts";
import { type Figures, noFigures, type ProductFigures } from "./queries.ts";

/** USDC base units of a dollar. */
const DOLLAR = 1_000_000n;
/** A premium is twice the expected payout: the protocol's margin is 2.00. */
const MARGIN = 2n;

function figuresBody({ active, ...sums }: Figures) {
  const expired = sums.untouched - active;
  const { premium, payout, paid } = sums;
  return {
    policies: sums.policies,
    active,
    triggered: sums.triggered,
    expired,
    coverage: String(sums.coverage),
    premium: String(premium),
    payout: String(payout),
    paid: String(paid),
    loss_ratio: ratio(paid * DOLLAR, premium),
    realised_trigger_rate: ratio(BigInt(sums.triggered), BigInt(sums.triggered + expired)),
    break_even_trigger_rate: ratio(premium, payout),
    modelled_trigger_rate: ratio(premium, payout * MARGIN),
  };
}

const add = (a: Figures, b: Figures): Figures => ({
  policies: a.policies + b.policies,
  active: a.active + b.active,
  triggered: a.triggered + b.triggered,
  untouched: a.untouched + b.untouched,
  coverage: a.coverage + b.coverage,
  premium: a.premium + b.premium,
  payout: a.payout + b.payout,
  paid: a.paid + b.paid,
});

/** The products' figures, in their order, and those of all products together. */
export const productStatsBody = (products: readonly ProductFigures[]) => ({
  products: products.map(({ productId, name, asset, ...figures }) => ({
    product_id: productId,
    product_name: name,
    asset,
    ...figuresBody(figures),
  })),
  total: figuresBody(products.reduce<Figures>(add, noFigures)),
});
