import * as act from "../../../scripts/local/protocol/actions/index.ts";
import { allTerms, type ProductTerms } from "../../../scripts/local/protocol/terms.ts";
import { type Action, chosen, chosenPlayer, type Outcome, type Scene, USDC } from "./scene.ts";
import { holdingsAfter, type PolicyNote, replaced } from "./world.ts";

/** An action of several blocks needs so much of a policy's window, in seconds. */
const margin = 10n;

/** Every other policy is large: its payout is more than what the vault pays in a week. */
const coverageOf = ({ draw }: Scene): bigint =>
  (draw.who % 2 === 0 ? 120_000n * USDC : 100n * USDC) + (BigInt(draw.size) % (5_000n * USDC));

const onSale = ({ world }: Scene) =>
  world.routerPaused || world.everythingPaused
    ? []
    : allTerms.filter(
        ({ productId }) => !world.pausedProducts.includes(productId) && !world.endedSales.has(productId),
      );

async function bought(
  { protocol, world }: Scene,
  terms: ProductTerms,
  buying: Promise<act.Purchased>,
): Promise<Outcome> {
  const { policyId, receipt } = await buying;
  const { timestamp } = await protocol.client.getBlock({ blockNumber: receipt.blockNumber });
  const note: PolicyNote = {
    terms,
    policyId,
    coverFrom: timestamp + BigInt(terms.waitingSeconds),
    expiresAt: timestamp + BigInt(terms.durationSeconds),
    open: true,
  };
  return { block: receipt.blockNumber, changed: { policies: [...world.policies, note] } };
}

export const purchase: Action = (scene) => {
  const terms = chosen(onSale(scene), scene.draw.which);
  if (!terms || scene.capacity < coverageOf(scene)) return undefined;
  return () =>
    bought(scene, terms, act.purchase(scene.protocol, chosenPlayer(scene), terms, coverageOf(scene)));
};

export const relayedPurchase: Action = (scene) => {
  const { protocol, relayer, capacity, draw } = scene;
  const terms = chosen(onSale(scene), draw.which);
  const buyer = chosenPlayer(scene).address;
  if (!terms || capacity < coverageOf(scene)) return undefined;
  return () => bought(scene, terms, act.purchaseFor(protocol, relayer, terms, coverageOf(scene), buyer));
};

export const trigger: Action = (scene) => {
  const { protocol, world, now, draw } = scene;
  const policy = chosen(
    world.policies.filter((p) => p.open && p.coverFrom <= now && p.expiresAt >= now + margin),
    draw.which,
  );
  if (!policy || world.everythingPaused) return undefined;
  return async () => {
    const issued = await act.trigger(protocol, chosenPlayer(scene), policy.terms, policy.policyId);
    const { epochId, usdAmount, holder } = issued;
    const maturity = await act.maturityDate(protocol, epochId);
    return {
      block: issued.receipt.blockNumber,
      changed: {
        policies: replaced(world.policies, policy, { ...policy, open: false }),
        holdings: holdingsAfter(world, holder, epochId, usdAmount),
        maturities: new Map([...world.maturities, [epochId, maturity]]),
      },
    };
  };
};

export const markExpired: Action = (scene) => {
  const { protocol, world, now, draw } = scene;
  const policy = chosen(
    world.policies.filter((p) => p.open && p.expiresAt < now),
    draw.which,
  );
  if (!policy) return undefined;
  return async () => {
    const { terms, policyId } = policy;
    const { blockNumber } = await act.markExpired(protocol, chosenPlayer(scene), terms, policyId);
    return {
      block: blockNumber,
      changed: { policies: replaced(world.policies, policy, { ...policy, open: false }) },
    };
  };
};

export const cancelPolicy: Action = ({ protocol, owner, world, now, draw }) => {
  const policy = chosen(
    world.policies.filter((p) => p.open && p.expiresAt >= now + margin),
    draw.which,
  );
  if (!policy) return undefined;
  return async () => {
    const { blockNumber } = await act.cancelPolicy(protocol, owner, policy.terms, policy.policyId);
    return {
      block: blockNumber,
      changed: { policies: replaced(world.policies, policy, { ...policy, open: false }) },
    };
  };
};
