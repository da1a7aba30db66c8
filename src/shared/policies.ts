import type { Context } from "ponder:registry";
import { policy, product, replacedPolicy } from "ponder:schema";
import { type Db, type LogEvent, rowAt } from "./event.ts";
import { knownTerms } from "./products.ts";
import { indexedSources } from "./sources.ts";
import { priceAt } from "./token-price.ts";
import { perTransaction } from "./transaction.ts";

export type PolicyKey = { productId: `0x${string}`; policyId: bigint };

export const nameOf = ({ productId, policyId }: PolicyKey): string =>
  `${productId}:${policyId}`.toLowerCase();

type Purchase = PolicyKey & {
  buyer: `0x${string}`;
  coverage: bigint;
  premium: bigint;
  payout: bigint;
};

/** What only the shield tells of a policy. Prices have 18 decimals. */
type Cover = {
  shield: `0x${string}`;
  strike: bigint;
  triggerPrice: bigint | null;
  expiresAt: bigint;
};

const { shields } = indexedSources(process.env);

/** Feeds and shields have 8 decimals, the index 18. */
const PRICE_SCALE = 10n ** 10n;
const BASIS_POINTS = 10_000n;

/** The policies of the newest transaction: their covers, and which of them have a row. */
const sales = perTransaction(() => ({ covers: new Map<string, Cover>(), opened: new Set<string>() }));

/** Keeps what a shield logs of a new policy, until the manager names its product. */
export function noteCover(
  event: LogEvent & { args: { policyId: bigint; strikePrice: bigint; expiresAt: bigint } },
): void {
  const { policyId, strikePrice, expiresAt } = event.args;
  const { covers } = sales(event);
  const at = event.log.address.toLowerCase();
  for (const { productId, adapter, shield } of shields) {
    if (shield !== at) continue;
    const drop = knownTerms(productId)?.triggerDropBps;
    covers.set(nameOf({ productId, policyId }), {
      shield: adapter,
      strike: strikePrice * PRICE_SCALE,
      // The contract compares with the barrier of 8 decimals.
      triggerPrice:
        drop === undefined
          ? null
          : ((strikePrice * (BASIS_POINTS - BigInt(drop))) / BASIS_POINTS) * PRICE_SCALE,
      expiresAt,
    });
  }
}

/** What no policy has when it is sold. */
const untouched = {
  observations: 0,
  observedAt: null,
  observedIn: null,
  observedRound: null,
  triggeredAt: null,
  markedExpiredAt: null,
  bondEpochId: null,
  bondAmount: null,
};

/**
 * Inserts a policy once. A purchase emits two events in one transaction, the manager's `PolicyCreated` and the router's
 * `PolicyPurchased`; only the latter has `paidBy`. The first of them inserts the row, in place of an older policy with the
 * same key.
 */
export async function openPolicy(
  { db, client }: Pick<Context, "db" | "client">,
  event: LogEvent,
  purchase: Purchase,
  paidBy: `0x${string}` | null,
): Promise<void> {
  const { productId, policyId, buyer, coverage, premium, payout } = purchase;
  const key = { productId, policyId };
  const name = nameOf(key);
  const { covers, opened } = sales(event);
  if (opened.has(name)) {
    if (paidBy !== null) await db.update(policy, key).set(rowAt(event, { paidBy }));
    return;
  }
  opened.add(name);
  const cover = covers.get(name);
  const sold = rowAt(event, {
    productId,
    policyId,
    buyer,
    coverage,
    premium,
    payout,
    paidBy,
    createdAt: event.block.timestamp,
    asset: knownTerms(productId)?.asset ?? null,
    shield: cover?.shield ?? (await db.find(product, { productId }))?.shield ?? null,
    strike: cover?.strike ?? null,
    triggerPrice: cover?.triggerPrice ?? null,
    expiresAt: cover?.expiresAt ?? null,
    priceSnapshot: await priceAt(client, event.block),
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

/** Changes the state of a policy that the index knows. */
export async function changePolicy(
  db: Db,
  key: PolicyKey,
  change: Partial<typeof policy.$inferInsert>,
): Promise<void> {
  if ((await db.find(policy, key)) !== null) await db.update(policy, key).set(change);
}
