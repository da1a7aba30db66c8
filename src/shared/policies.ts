import { policy, policyPrice, product, replacedPolicy } from "ponder:schema";
import { knownTerms } from "./catalogue.ts";
import { type Db, type LogEvent, rowAt } from "./event.ts";
import { strikeOf, triggerPriceOf } from "./oracle.ts";
import { perTransaction } from "./transaction.ts";

export type PolicyKey = { productId: `0x${string}`; policyId: bigint };

const nameOf = ({ productId, policyId }: PolicyKey) => `${productId}:${policyId}`;

type Purchase = PolicyKey & {
  buyer: `0x${string}`;
  coverage: bigint;
  premium: bigint;
  payout: bigint;
};

/**
 * What a shield stores of a policy: the end of its cover, and its prices. Null where the product's terms are unknown.
 */
async function coverOf(db: Db, event: LogEvent, productId: `0x${string}`) {
  const createdAt = event.block.timestamp;
  const terms = await db.find(product, { productId });
  const known = knownTerms(productId);
  const asset = terms?.asset ?? known?.asset ?? null;
  const strike = await strikeOf(db, asset, event);
  const duration = terms?.durationSeconds ?? known?.durationSeconds ?? null;
  return {
    shield: terms?.shield ?? null,
    expiresAt: duration === null ? null : createdAt + duration,
    asset,
    strike,
    triggerPrice: triggerPriceOf(strike, terms?.triggerDropBps ?? known?.triggerDropBps ?? null),
  };
}

/** What no policy has when it is sold. */
const untouched = {
  triggeredAt: null,
  markedExpiredAt: null,
  bondEpochId: null,
  bondAmount: null,
};

/** The policies that the newest transaction has sold, and their prices; one may be logged before the other. */
const sales = perTransaction(() => ({ opened: new Set<string>(), prices: new Map<string, bigint>() }));

/**
 * Inserts a policy once. A purchase emits two events in one transaction, the manager's `PolicyCreated` and the router's
 * `PolicyPurchased`; only the latter has `paidBy`. The first of them inserts the row, in place of an older policy with the
 * same key.
 */
export async function openPolicy(db: Db, event: LogEvent, purchase: Purchase, paidBy: `0x${string}` | null) {
  const { productId, policyId, buyer, coverage, premium, payout } = purchase;
  const key = { productId, policyId };
  const name = nameOf(key);
  const { opened, prices } = sales(event);
  if (opened.has(name)) {
    if (paidBy !== null) await db.update(policy, key).set(rowAt(event, { paidBy }));
    return;
  }
  opened.add(name);
  const sold = rowAt(event, {
    productId,
    policyId,
    buyer,
    coverage,
    premium,
    payout,
    paidBy,
    createdAt: event.block.timestamp,
    priceSnapshot: prices.get(name) ?? 0n,
    ...(await coverOf(db, event, productId)),
    ...untouched,
  });
  const older = await db.find(policy, key);
  if (older === null) {
    await db.insert(policy).values(sold);
  } else {
    await db.insert(replacedPolicy).values({ ...older });
    await db.update(policy, key).set(sold);
  }
}

/** Records the token's price at a purchase. */
export async function recordPrice(
  db: Db,
  event: LogEvent & { args: PolicyKey & { priceSnapshot: bigint } },
): Promise<void> {
  const { productId, policyId, priceSnapshot } = event.args;
  const key = { productId, policyId };
  const name = nameOf(key);
  const { opened, prices } = sales(event);
  await db.insert(policyPrice).values(rowAt(event, event.args));
  if (opened.has(name)) await db.update(policy, key).set({ priceSnapshot });
  else prices.set(name, priceSnapshot);
}

/** Changes the state of a policy that the index knows. */
export async function changePolicy(
  db: Db,
  key: PolicyKey,
  change: Partial<typeof policy.$inferInsert>,
): Promise<void> {
  if ((await db.find(policy, key)) !== null) await db.update(policy, key).set(change);
}
