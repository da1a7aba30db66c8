import { ratio } from "../ratio.ts";
import { type Figures, noFigures, type ProductFigures } from "./queries.ts";

/** USDC base units of a dollar. */
const DOLLAR = 1_000_000n;
/** A premium is twice the expected payout: the protocol's margin is 2.00. */
const MARGIN = 2n;

function figuresBody({ active, waiting, ...sums }: Figures) {
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
}

const add = (a: Figures, b: Figures): Figures => ({
  policies: a.policies + b.policies,
  active: a.active + b.active,
  waiting: a.waiting + b.waiting,
  triggered: a.triggered + b.triggered,
  cancelled: a.cancelled + b.cancelled,
  untouched: a.untouched + b.untouched,
  coverage: a.coverage + b.coverage,
  premium: a.premium + b.premium,
  premiumRefunded: a.premiumRefunded + b.premiumRefunded,
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
