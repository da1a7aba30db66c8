import { catalogueTerms, type ProductTerms } from "../../../scripts/local/protocol/terms.ts";
import * as act from "../../support/protocol-actions.ts";
import { type Action, type ActionContext, type Outcome, pick, pickUser, USDC } from "./action.ts";
import { holdingsAfter, type ModelPolicy, replaced } from "./model-state.ts";

/** Seconds that an action of several blocks needs before a policy expires. */
const margin = 10n;

/** Every second policy has a payout above the week's throttle. */
const coverageOf = ({ draw }: ActionContext): bigint =>
  (draw.who % 2 === 0 ? 120_000n * USDC : 100n * USDC) + (BigInt(draw.size) % (5_000n * USDC));

const onSale = ({ model }: ActionContext) =>
  model.routerPaused || model.globallyPaused
    ? []
    : catalogueTerms.filter(({ productId }) => !model.endedSales.has(productId));

async function bought(
  { protocol, model }: ActionContext,
  terms: ProductTerms,
  buying: Promise<act.Purchased>,
): Promise<Outcome> {
  const { policyId, receipt } = await buying;
  const { timestamp } = await protocol.client.getBlock({ blockNumber: receipt.blockNumber });
  const policy: ModelPolicy = {
    terms,
    policyId,
    expiresAt: timestamp + BigInt(terms.durationSeconds),
    open: true,
  };
  return { block: receipt.blockNumber, changed: { policies: [...model.policies, policy] } };
}

export const purchase: Action = (context) => {
  const terms = pick(onSale(context), context.draw.which);
  if (!terms || context.capacity < coverageOf(context)) return undefined;
  return () =>
    bought(context, terms, act.purchase(context.protocol, pickUser(context), terms, coverageOf(context)));
};

export const relayedPurchase: Action = (context) => {
  const { protocol, relayer, capacity, draw } = context;
  const terms = pick(onSale(context), draw.which);
  const buyer = pickUser(context).address;
  if (!terms || capacity < coverageOf(context)) return undefined;
  return () => bought(context, terms, act.purchaseFor(protocol, relayer, terms, coverageOf(context), buyer));
};

export const trigger: Action = (context) => {
  const { protocol, model, now, draw } = context;
  const policy = pick(
    model.policies.filter((p) => p.open && p.expiresAt >= now + margin),
    draw.which,
  );
  if (!policy) return undefined;
  return async () => {
    const issued = await act.trigger(protocol, pickUser(context), policy.terms, policy.policyId);
    const { epochId, usdAmount, holder } = issued;
    const maturity = await act.maturityDate(protocol, epochId);
    return {
      block: issued.receipt.blockNumber,
      changed: {
        policies: replaced(model.policies, policy, { ...policy, open: false }),
        holdings: holdingsAfter(model, holder, epochId, usdAmount),
        maturities: new Map([...model.maturities, [epochId, maturity]]),
      },
    };
  };
};

export const markExpired: Action = (context) => {
  const { protocol, model, now, draw } = context;
  const policy = pick(
    model.policies.filter((p) => p.open && p.expiresAt < now),
    draw.which,
  );
  if (!policy) return undefined;
  return async () => {
    const { terms, policyId } = policy;
    const { blockNumber } = await act.markExpired(protocol, pickUser(context), terms, policyId);
    return {
      block: blockNumber,
      changed: { policies: replaced(model.policies, policy, { ...policy, open: false }) },
    };
  };
};
