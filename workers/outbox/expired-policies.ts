import { and, asc, eq, getTableColumns, gte } from "drizzle-orm";
import { getAddress, type Hex } from "viem";
import { hasStatus } from "../../lib/indexed/policy-status.ts";
import { policy, product } from "../../ponder.schema.ts";
import type { Block, ChainEvent } from "./event.ts";
import { isNotStored, occurrenceOf, policyKey } from "./event-queries.ts";
import { firstBlockAfter, type ReadBlock } from "./read-block.ts";
import { distinctWallets, type IndexQuery } from "./sources/source.ts";

/** A policy that expired without a trigger and has no expiry event yet. */
export type ExpiredPolicy = {
  readonly productId: Hex;
  readonly policyId: bigint;
  readonly productName: string | null;
  readonly buyer: Hex;
  readonly coverage: bigint;
  /** The last second of the cover, Unix time. */
  readonly expiresAt: bigint;
  /** The block of the purchase. */
  readonly blockNumber: bigint;
  readonly key: string;
  readonly occurrence: number;
};

/** Reads the first `limit` policies with an expiry from `since` on and before `time` (Unix seconds) that have no event. */
export async function readExpiredPolicies(
  db: IndexQuery,
  chainId: number,
  { since, time, limit }: { since: bigint; time: bigint; limit: number },
): Promise<ExpiredPolicy[]> {
  const key = policyKey("expired", policy);
  const { productId, policyId, buyer, coverage, blockNumber } = getTableColumns(policy);
  const rows = await db
    .select({
      ...{ productId, policyId, buyer, coverage, blockNumber, expiresAt: policy.expiresAt },
      productName: product.name,
      key: key.as("key"),
      occurrence: occurrenceOf(chainId, key).as("occurrence"),
    })
    .from(policy)
    .leftJoin(product, eq(product.productId, policy.productId))
    .where(
      and(
        gte(policy.expiresAt, since),
        hasStatus(policy, "Expired", time),
        isNotStored(chainId, key, policy.blockNumber),
      ),
    )
    .orderBy(asc(policy.expiresAt))
    .limit(limit);
  return rows.flatMap(({ expiresAt, ...row }) => (expiresAt === null ? [] : [{ ...row, expiresAt }]));
}

/**
 * The event of an expired policy, in the first block after the end of its cover. Undefined when that block is above `upTo`, or
 * when the node does not answer.
 */
async function expiryEvent(
  expired: ExpiredPolicy,
  upTo: Block,
  readBlock: ReadBlock,
): Promise<ChainEvent | undefined> {
  const { key, occurrence, expiresAt, buyer } = expired;
  if (upTo.timestamp <= expiresAt) return undefined;
  const block = await firstBlockAfter(expiresAt, expired.blockNumber, upTo, readBlock).catch(() => undefined);
  if (!block) return undefined;
  return {
    ...{ type: "policy_expired", block, log: null, key, occurrence },
    parties: distinctWallets([buyer]),
    data: {
      productId: expired.productId,
      productName: expired.productName,
      policyId: String(expired.policyId),
      buyer: getAddress(buyer),
      coverageAmount: String(expired.coverage),
      expiresAt: String(expiresAt),
    },
  };
}

/** The events of expired policies in block order, without those in a block that cannot be read or is above `upTo`. */
export async function expiryEvents(
  expired: readonly ExpiredPolicy[],
  upTo: Block,
  readBlock: ReadBlock,
): Promise<readonly ChainEvent[]> {
  const events = await Promise.all(expired.map((policy) => expiryEvent(policy, upTo, readBlock)));
  return events
    .filter((event) => event !== undefined)
    .sort((a, b) => Number(a.block.number - b.block.number));
}
