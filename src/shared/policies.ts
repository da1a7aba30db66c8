import { policy, policyPrice, product, replacedPolicy } from "ponder:schema";
import { knownTerms } from "./catalogue.ts";
import { type Db, type LogEvent, rowAt } from "./event.ts";
import { strikeOf, triggerPriceOf } from "./oracle.ts";

type PolicyKey = { productId: `0x${string}`; policyId: bigint };

type Purchase = PolicyKey & {
  buyer: `0x${string}`;
  coverage: bigint;
  premium: bigint;
  payout: bigint;
};

/**
 * What a shield stores of a policy: the start and end of its cover, and its prices. The waiting period is part of the
 * product's duration. Null where the product's terms are unknown.
 */
async function coverOf(db: Db, event: LogEvent, productId: `0x${string}`) {
  const createdAt = event.block.timestamp;
  const terms = await db.find(product, { productId });
  const known = knownTerms(productId);
  const asset = terms?.asset ?? known?.asset ?? null;
  const strike = await strikeOf(db, asset, event);
  const waiting = terms?.waitingSeconds ?? known?.waitingSeconds ?? 0n;
  const duration = terms?.durationSeconds ?? known?.durationSeconds ?? null;
  return {
    shield: terms?.shield ?? null,
    waitingEndsAt: waiting === 0n ? null : createdAt + waiting,
    expiresAt: duration === null ? null : createdAt + duration,
    asset,
    strike,
    triggerPrice: triggerPriceOf(strike, terms?.triggerDropBps ?? known?.triggerDropBps ?? null),
  };
}

/** What no policy has when it is sold. */
const untouched = {
  triggeredAt: null,
  cancelledAt: null,
  markedExpiredAt: null,
  bondEpochId: null,
  bondAmount: null,
};

/**
 * Inserts a policy once. A purchase emits two events in one transaction, the manager's `PolicyCreated` and the router's
 * `PolicyPurchased`; only the latter has `paidBy`. The first of them inserts the row, in place of an older policy with the
 * same key.
 */
export async function openPolicy(db: Db, event: LogEvent, purchase: Purchase, paidBy: `0x${string}` | null) {
  const { productId, policyId, buyer, coverage, premium, payout } = purchase;
  const key = { productId, policyId };
  const txHash = event.transaction.hash;
  const known = await db.find(policy, key);
  if (known?.txHash === txHash) {
    if (paidBy !== null) await db.update(policy, key).set(rowAt(event, { paidBy }));
    return;
  }
  const price = await db.find(policyPrice, { txHash, ...key });
  const sold = rowAt(event, {
    productId,
    policyId,
    buyer,
    coverage,
    premium,
    payout,
    paidBy,
    createdAt: event.block.timestamp,
    priceSnapshot: price?.priceSnapshot ?? 0n,
    ...(await coverOf(db, event, productId)),
    ...untouched,
  });
  if (known === null) {
    await db.insert(policy).values(sold);
  } else {
    await db.insert(replacedPolicy).values({ ...known });
    await db.update(policy, key).set(sold);
  }
}

/** Records the token's price at a purchase. The second of the purchase's two logs sets it on the policy. */
export async function recordPrice(
  db: Db,
  event: LogEvent & { args: PolicyKey & { priceSnapshot: bigint } },
): Promise<void> {
  const { productId, policyId, priceSnapshot } = event.args;
  const key = { productId, policyId };
  await db
    .insert(policyPrice)
    .values(rowAt(event, event.args))
    .onConflictDoUpdate(rowAt(event, { priceSnapshot }));
  const sold = await db.find(policy, key);
  if (sold?.txHash === event.transaction.hash) await db.update(policy, key).set({ priceSnapshot });
}

/** Changes a policy's state. @returns its buyer and premium, or null when the index does not know it. */
export async function changePolicy(
  db: Db,
  key: PolicyKey,
  change: { triggeredAt: bigint } | { cancelledAt: bigint } | { markedExpiredAt: bigint },
): Promise<{ buyer: `0x${string}`; premium: bigint } | null> {
  const row = await db.find(policy, key);
  if (row === null) return null;
  const { buyer, premium } = row;
  await db.update(policy, key).set(change);
  return { buyer, premium };
}
