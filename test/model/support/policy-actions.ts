import type { TransactionReceipt } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { DWELL, OBSERVATION_INTERVAL } from "../../../lib/price-rules.ts";
import { catalogueTerms, type ProductTerms } from "../../../scripts/local/protocol/terms.ts";
import * as act from "../../support/protocol-actions.ts";
import { type Action, type ActionContext, type Outcome, pick, pickUser, USDC } from "./action.ts";
import { holdingsAfter, type ModelPolicy, replaced } from "./model-state.ts";

/** Seconds that an action of several blocks needs before a policy expires: the dwell and three observations. */
const margin = 600n;

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

/** An open policy that can be paid before it ends. */
const pickOpen = ({ model, now, draw }: ActionContext) =>
  pick(
    model.policies.filter((p) => p.open && p.expiresAt >= now + margin),
    draw.which,
  );

const pickOverdue = ({ model, now, draw }: ActionContext) =>
  pick(
    model.policies.filter((p) => p.open && p.expiresAt < now),
    draw.which,
  );

const later = (a: bigint, b: bigint) => (a > b ? a : b);

/** Makes a round of this price as soon as the policy can be observed, and evaluates it. */
async function evaluateAt<Result>(
  { protocol, owner }: ActionContext,
  { terms, policyId }: ModelPolicy,
  price: bigint,
  evaluate: () => Promise<Result>,
): Promise<Result> {
  const { start } = await act.coverOf(protocol, terms, policyId);
  const now = await act.chainTime(protocol);
  await act.nextBlockAt(protocol, later(start + BigInt(DWELL), now + BigInt(OBSERVATION_INTERVAL)));
  await act.pushPrice(protocol, owner, terms.symbol, price);
  return evaluate();
}

/** Observes the policy at its trigger price. */
async function observeOnce(context: ActionContext, policy: ModelPolicy) {
  const { protocol } = context;
  const { terms, policyId } = policy;
  const low = await act.triggerPrice(protocol, terms, policyId);
  const receipt = await evaluateAt(context, policy, low, () =>
    act.observe(protocol, pickUser(context), terms, [policyId]),
  );
  act.onlyEvent(receipt, flashShieldAbi, "ConfirmationObserved");
  return receipt;
}

/** Restores the price that a feed had, and refreshes the other feed. */
async function restore({ protocol, owner }: ActionContext, { terms }: ModelPolicy, price: bigint) {
  await act.pushPrice(protocol, owner, terms.symbol, price);
  await act.refreshFeeds(protocol, owner);
}

export const observe: Action = (context) => {
  const policy = pickOpen(context);
  if (!policy) return undefined;
  return async () => {
    const { protocol } = context;
    const { terms, policyId } = policy;
    const { price } = await act.latestRound(protocol, terms.symbol);
    // A third observation would pay. A reorganisation may have reverted only a part of an action.
    if ((await act.coverOf(protocol, terms, policyId)).count === 2) return resetPolicy(context, policy);
    const { blockNumber: block } = await observeOnce(context, policy);
    await restore(context, policy, price);
    return { block, changed: {} };
  };
};

/** Evaluates a policy at its strike, whether it was observed before or not. */
async function resetPolicy(context: ActionContext, policy: ModelPolicy): Promise<Outcome> {
  const { protocol } = context;
  const { terms, policyId } = policy;
  const { strike } = await act.coverOf(protocol, terms, policyId);
  const receipt = await evaluateAt(context, policy, strike, () =>
    act.observe(protocol, pickUser(context), terms, [policyId]),
  );
  act.onlyEvent(receipt, flashShieldAbi, "PolicyVerified");
  await act.refreshFeeds(protocol, context.owner);
  return { block: receipt.blockNumber, changed: {}, kind: "reset" };
}

export const reset: Action = (context) => {
  const policy = pickOpen(context);
  return policy && (() => resetPolicy(context, policy));
};

/** Observes a policy until it is paid, the third time by `pay`. */
const paidBy =
  (pay: (context: ActionContext, policy: ModelPolicy) => Promise<TransactionReceipt>): Action =>
  (context) => {
    const { protocol, model } = context;
    const policy = pickOpen(context);
    if (!policy) return undefined;
    return async () => {
      const { terms, policyId } = policy;
      const { price } = await act.latestRound(protocol, terms.symbol);
      while ((await act.coverOf(protocol, terms, policyId)).count < 2) await observeOnce(context, policy);
      const receipt = await pay(context, policy);
      const { epochId, usdAmount, to: holder } = act.onlyEvent(receipt, bondVaultAbi, "BondIssued").args;
      await restore(context, policy, price);
      const maturity = await act.maturityDate(protocol, epochId);
      return {
        block: receipt.blockNumber,
        changed: {
          policies: replaced(model.policies, policy, { ...policy, open: false }),
          holdings: holdingsAfter(model, holder, epochId, usdAmount),
          maturities: new Map([...model.maturities, [epochId, maturity]]),
        },
      };
    };
  };

export const trigger: Action = paidBy(observeOnce);

export const submitTrigger: Action = paidBy(async (context, policy) => {
  const { protocol, relayer } = context;
  const { terms, policyId } = policy;
  const low = await act.triggerPrice(protocol, terms, policyId);
  const { receipt } = await evaluateAt(context, policy, low, () =>
    act.submitTrigger(protocol, relayer, terms, policyId),
  );
  return receipt;
});

/** Closes an expired policy by one of two calls. */
const closedBy =
  (close: (context: ActionContext, policy: ModelPolicy) => Promise<TransactionReceipt>): Action =>
  (context) => {
    const policy = pickOverdue(context);
    if (!policy) return undefined;
    return async () => {
      const receipt = await close(context, policy);
      act.onlyEvent(receipt, policyManagerAbi, "PolicyExpired");
      const policies = replaced(context.model.policies, policy, { ...policy, open: false });
      return { block: receipt.blockNumber, changed: { policies } };
    };
  };

export const markExpired: Action = closedBy((context, { terms, policyId }) =>
  act.markExpired(context.protocol, pickUser(context), terms, policyId),
);

export const expireByUpkeep: Action = closedBy((context, { terms, policyId }) =>
  act.observe(context.protocol, pickUser(context), terms, [policyId]),
);
