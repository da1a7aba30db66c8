import { and, asc, eq, getTableColumns, gte, isNull, lt } from "drizzle-orm";
import { getAddress, type Hex } from "viem";
import { policy, product } from "../../ponder.schema.ts";
import { firstBlockAfter, type ReadBlock } from "./blocks.ts";
import type { Block, ChainEvent } from "./event.ts";
import { expiryKey, isNew, occurrenceOf } from "./rows.ts";
import { distinct, type IndexQuery } from "./sources/source.ts";

/** A policy whose cover has ended without a trigger or a cancelling, before anybody was told. */
export type Expired = {
  readonly productId: Hex;
  readonly policyId: bigint;
  readonly productName: string | null;
  readonly buyer: Hex;
  readonly coverage: bigint;
  /** Unix seconds; the cover ends after it. */
  readonly expiresAt: bigint;
  /** The block of the purchase. */
  readonly blockNumber: bigint;
  readonly key: string;
  readonly occurrence: number;
};

/** The first `limit` policies that expired from `since` on and before `time` (Unix seconds) and are not stored as such. */
export async function readExpired(
  db: IndexQuery,
  chainId: number,
  { since, time, limit }: { since: bigint; time: bigint; limit: number },
): Promise<Expired[]> {
  const key = expiryKey(policy);
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
        lt(policy.expiresAt, time),
        isNull(policy.triggeredAt),
        isNull(policy.cancelledAt),
        isNew(chainId, key),
      ),
    )
    .orderBy(asc(policy.expiresAt))
    .limit(limit);
  return rows.flatMap(({ expiresAt, ...row }) => (expiresAt === null ? [] : [{ ...row, expiresAt }]));
}

/**
 * The event of an expired policy, in the block whose time passed the end of its cover; undefined when that block is above
 * `upTo`, or cannot be found now.
 */
async function eventOf(expired: Expired, upTo: Block, readBlock: ReadBlock): Promise<ChainEvent | undefined> {
  const { key, occurrence, expiresAt, buyer } = expired;
  if (upTo.timestamp <= expiresAt) return undefined;
  const block = await firstBlockAfter(expiresAt, expired.blockNumber, upTo, readBlock).catch(() => undefined);
  if (!block) return undefined;
  return {
    ...{ type: "policy_expired", block, log: null, key, occurrence },
    parties: distinct([buyer]),
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

/** The events of expired policies, in the order of their blocks; those that have to wait are left out. */
export async function expiryEvents(
  expired: readonly Expired[],
  upTo: Block,
  readBlock: ReadBlock,
): Promise<readonly ChainEvent[]> {
  const events = await Promise.all(expired.map((policy) => eventOf(policy, upTo, readBlock)));
  return events
    .filter((event) => event !== undefined)
    .sort((a, b) => Number(a.block.number - b.block.number));
}
