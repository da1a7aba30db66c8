import { policy, policyPrice, product } from "ponder:schema";
import { knownTerms } from "./catalogue.ts";
import { type Db, type LogEvent, position } from "./event.ts";
import { strikeOf, triggerPriceOf } from "./oracle.ts";
import { countInClock } from "./sums.ts";

type Purchase = {
  productId: `0x${string}`;
  policyId: bigint;
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

/**
 * Inserts a policy once. A purchase emits two events, the manager's `PolicyCreated` and the router's `PolicyPurchased`;
 * only the latter has `paidBy`. The first of them inserts the row.
 */
export async function openPolicy(db: Db, event: LogEvent, purchase: Purchase, paidBy: `0x${string}` | null) {
  const { productId, policyId, buyer, coverage, premium, payout } = purchase;
  const createdAt = event.block.timestamp;
  const price = await db.find(policyPrice, { productId, policyId });
  const cover = await coverOf(db, event, productId);
  const opened = await db
    .insert(policy)
    .values({
      ...position(event),
      ...{ productId, policyId, buyer, coverage, premium, payout, paidBy, createdAt },
      ...cover,
      priceSnapshot: price?.priceSnapshot ?? 0n,
    })
    .onConflictDoNothing();
  if (opened === null) {
    if (paidBy !== null) await db.update(policy, { productId, policyId }).set({ ...position(event), paidBy });
    return;
  }
  await countInClock(db, cover, 1);
}

/** Closes a policy before it expires. @returns its former state, or null when the index does not know it. */
export async function closePolicy(
  db: Db,
  key: { productId: `0x${string}`; policyId: bigint },
  how: { triggeredAt: bigint } | { cancelledAt: bigint },
): Promise<{ buyer: `0x${string}`; premium: bigint } | null> {
  const row = await db.find(policy, key);
  if (row === null) return null;
  const { buyer, premium, waitingEndsAt, expiresAt } = row;
  const wasOpen = row.triggeredAt === null && row.cancelledAt === null;
  await db.update(policy, key).set(how);
  if (wasOpen) await countInClock(db, { waitingEndsAt, expiresAt }, -1);
  return { buyer, premium };
}
