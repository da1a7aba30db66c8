/**
 * Policies that become due: those for which three rounds at or below the trigger price count within the window. That happens
 * with one log, whatever pauses or the sequencer do: mostly the third round's. It is the announcement of a feed's phase for
 * rounds from before it, and the purchase for rounds that were already there.
 */
import { eq, type SQL, sql } from "drizzle-orm";
import { getAddress, type Hex } from "viem";
import { z } from "zod";
import { firstRounds } from "../../lib/indexed/first-rounds.ts";
import { CONFIRMATIONS, FEED_TO_PRICE, MINIMUM_PAYOUT } from "../../lib/price-rules.ts";
import { oracleFeed, oraclePhase, oracleRound, policy, policyTrigger, product } from "../../ponder.schema.ts";
import type { ChainEvent } from "./event.ts";
import { isNotStored, occurrenceOf, policyKey } from "./event-queries.ts";
import { distinctWallets, type IndexQuery } from "./sources/source.ts";

const isText = (value: unknown) => typeof value === "string";
const hex = z.custom<Hex>(isText);
const integer = z.string().transform(BigInt);

const row = z.object({
  productId: hex,
  productName: z.string().nullable(),
  policyId: z.string(),
  buyer: hex,
  coverage: z.string(),
  payout: z.string(),
  triggerPrice: z.string(),
  expiresAt: z.string(),
  key: z.string(),
  occurrence: z.number(),
  rounds: z.array(z.object({ id: z.string(), answer: integer })),
  blockNumber: integer,
  logIndex: z.number(),
  blockHash: hex,
  timestamp: integer,
  txHash: hex,
});

/**
 * Where a round that makes a policy due may be: it counts from a block above `after`, or is updated from `since` on (Unix
 * seconds).
 */
type Range = { readonly after: bigint; readonly since: bigint; readonly upTo: bigint };

const numeric = (value: bigint) => sql`${String(value)}::numeric`;

/**
 * True for a policy if a round that began to count in the range is at or below its trigger price; undefined without such
 * rounds. The lowest answers are values: as a subquery they would be read again for each open policy.
 */
async function hasFallen(db: IndexQuery, { after, since, upTo }: Range): Promise<SQL | undefined> {
  const found = await db.execute(sql`
    with logged as materialized (
      select r.asset, r.answer from ${oracleRound} r
      where r.block_number > ${numeric(after)} and r.block_number <= ${numeric(upTo)} and r.answer > 0)
    select f.asset, case
        when exists (select from ${oraclePhase} p where p.asset = f.asset and p.block_number > ${numeric(after)}) then 0
        else least((select min(l.answer) from logged l where l.asset = f.asset),
          (select min(r.answer) from ${oracleRound} r
            where r.asset = f.asset and r.updated_at >= ${numeric(since)} and r.answer > 0))
      end::text as lowest
    from ${oracleFeed} f`);
  const assets = z.array(z.object({ asset: hex, lowest: z.string().nullable() })).parse([...found]);
  const reached = assets.flatMap(({ asset, lowest }) =>
    lowest === null
      ? []
      : [
          sql`(${policy.asset} = ${asset} and ${policy.triggerPrice} >= ${numeric(BigInt(lowest) * FEED_TO_PRICE)})`,
        ],
  );
  return reached.length === 0 ? undefined : sql`(${sql.join(reached, sql` or `)})`;
}

/** The start of the first window, Unix seconds, among the policies that are open at a time; undefined without open policies. */
async function firstWindow(db: IndexQuery, time: bigint): Promise<bigint | undefined> {
  const [found] = await db.execute(sql`
    select min(${policy.createdAt})::text as start from ${policy} where ${policy.expiresAt} >= ${numeric(time)}`);
  return z.object({ start: integer.nullable() }).parse(found).start ?? undefined;
}

/** A column of the log that made a policy due: that of the last of its first rounds. */
const ofLast = (column: string) =>
  sql.raw(`(array_agg(n.${column} order by n.block_number desc, n.log_index desc))[1]`);

/** Whether a policy may have been open in a block of this time or later. */
const isOpenAt = (time: SQL): SQL => sql`
  (${policy.triggeredAt} is null or ${policy.triggeredAt} >= ${time})`;

/** Whether a policy was not triggered up to this block. By its number: several blocks may have one second. */
const isOpenAfter = (block: SQL): SQL => sql`not exists (
  select from ${policyTrigger} e where e.product_id = ${policy.productId} and e.policy_id = ${policy.policyId}
    and e.block_number >= ${policy.blockNumber} and e.block_number <= ${block})`;

/**
 * Reads the first `limit` policies that became due up to block `upTo` and have no stored event, in chain order. Without `all`,
 * only those that became due after block `after`; with it, whatever is open at `since`, which is needed once for each build
 * of the index: it may know rounds of a new aggregator that the last build did not, in blocks that are final by now.
 *
 * A policy that ended, or was triggered, in the block that would make it due or before is not due, nor is one
 * whose payout is too small for a bond. Reads the open policies only, by the index on their expiry, and of those the ones that
 * a price reached.
 */
export async function readDuePolicies(
  db: IndexQuery,
  chainId: number,
  { all, limit, ...range }: Range & { all: boolean; limit: number },
): Promise<ChainEvent[]> {
  const { since, upTo } = range;
  const fallen = await hasFallen(
    db,
    all ? { after: upTo, since: (await firstWindow(db, since)) ?? since, upTo } : range,
  );
  if (fallen === undefined) return [];
  const key = policyKey("due", policy);
  const found = await db.execute(sql`
    select ${policy.productId} as "productId", ${product.name} as "productName", ${policy.policyId}::text as "policyId",
      ${policy.buyer} as buyer, ${policy.coverage}::text as coverage, ${policy.payout}::text as payout,
      ${policy.triggerPrice}::text as "triggerPrice", ${policy.expiresAt}::text as "expiresAt", ${key} as key,
      ${occurrenceOf(chainId, key)} as occurrence, due.rounds, due.block_number::text as "blockNumber",
      due.log_index as "logIndex", due.block_hash as "blockHash", due.block_timestamp::text as timestamp, due.tx_hash as "txHash"
    from ${policy} left join ${product} on ${eq(product.productId, policy.productId)}
    cross join lateral (
      select count(*) as count, ${ofLast("block_number")} as block_number, ${ofLast("log_index")} as log_index,
        ${ofLast("block_hash")} as block_hash, ${ofLast("block_timestamp")} as block_timestamp, ${ofLast("tx_hash")} as tx_hash,
        json_agg(json_build_object('id', n.round_id::text, 'answer', n.answer::text) order by n.round_id) as rounds
      from (${firstRounds()}) n) due
    where ${policy.expiresAt} >= ${numeric(since)} and ${fallen}
      and ${policy.payout} >= ${sql.raw(String(MINIMUM_PAYOUT))} and ${isOpenAt(numeric(since))}
      and ${isNotStored(chainId, key, policy.blockNumber)}
      and due.count = ${sql.raw(String(CONFIRMATIONS))} and due.block_number <= ${numeric(upTo)}
      and due.block_timestamp <= ${policy.expiresAt} and ${isOpenAfter(sql`due.block_number`)}
    order by due.block_number, due.log_index, ${policy.productId}, ${policy.policyId} limit ${limit}`);
  return z
    .array(row)
    .parse([...found])
    .map(dueEvent);
}

function dueEvent({ key, occurrence, rounds, timestamp, ...due }: z.output<typeof row>): ChainEvent {
  const { blockNumber, blockHash, logIndex, txHash, buyer, productId, productName, policyId } = due;
  return {
    ...{ type: "policy_due", key, occurrence, parties: distinctWallets([buyer]) },
    block: { number: blockNumber, hash: blockHash, timestamp },
    log: { index: logIndex, txHash },
    data: {
      ...{ productId, productName, policyId, buyer: getAddress(buyer) },
      coverageAmount: due.coverage,
      payoutAmount: due.payout,
      triggerPrice: due.triggerPrice,
      rounds: rounds.map(({ id }) => id),
      prices: rounds.map(({ answer }) => String(answer * FEED_TO_PRICE)),
      expiresAt: due.expiresAt,
      dueAt: String(timestamp),
    },
  };
}
