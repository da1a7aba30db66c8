/**
 * Policies that become due: those that a call could observe for the first time, because the feed's newest round is at or below the
 * trigger price, 300 seconds after the purchase at the earliest. That happens at a time: that of the round's log, or later in the
 * round's reign, whatever the sequencer does. The event is the round's log.
 */
import { eq, type SQL, sql } from "drizzle-orm";
import { getAddress, type Hex } from "viem";
import { z } from "zod";
import { DWELL, FEED_TO_PRICE, MAX_PRICE_AGE } from "../../lib/price-rules.ts";
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
  price: integer,
  priceAt: z.string(),
  dueAt: z.string(),
  blockNumber: integer,
  logIndex: z.number(),
  blockHash: hex,
  timestamp: integer,
  txHash: hex,
});

const numeric = (value: bigint) => sql`${String(value)}::numeric`;
const seconds = (count: number) => sql.raw(String(count));
const PRICE_SCALE = sql.raw(String(FEED_TO_PRICE));

/** Whether a round is of the phase that its feed asked when the round came. */
const isAnswer = (r: SQL): SQL => sql`${r}.phase = (
  select max(p.phase) from ${oraclePhase} p
  where p.asset = ${r}.asset and (p.block_number, p.log_index) <= (${r}.block_number, ${r}.log_index))`;

/**
 * The answers of the feeds: those that were their newest in block `after`, and all later ones up to a block, each until `until`, the
 * time of the next one's log, in block `until_block`. Answers are the rounds of the phase that the feed asked then, and of a new phase
 * its newest round from the log that begins it, if it has one.
 */
const answersSince = (after: bigint, upTo: bigint): SQL => sql`
  select a.*, lead(a.block_timestamp) over later as until, lead(a.block_number) over later as until_block
  from (
    select f.asset, greatest(
      (select r.block_number from ${oracleRound} r
        where r.asset = f.asset and r.block_number <= ${numeric(after)} and ${isAnswer(sql`r`)}
        order by r.block_number desc, r.log_index desc limit 1),
      (select max(p.block_number) from ${oraclePhase} p where p.asset = f.asset and p.block_number <= ${numeric(after)}),
      0) as block_number
    from ${oracleFeed} f) first,
  lateral (
    select r.asset, r.answer, r.updated_at, r.block_number, r.log_index, r.block_hash, r.block_timestamp, r.tx_hash
    from ${oracleRound} r
    where r.asset = first.asset and r.block_number >= first.block_number and r.block_number <= ${numeric(upTo)}
      and ${isAnswer(sql`r`)}
    union all
    select p.asset, p.answer, r.updated_at, p.block_number, p.log_index, p.block_hash, p.block_timestamp, p.tx_hash
    from ${oraclePhase} p left join ${oracleRound} r on r.asset = p.asset and r.round_id = p.round_id
    where p.asset = first.asset and p.block_number >= first.block_number and p.block_number <= ${numeric(upTo)}) a
  window later as (partition by a.asset order by a.block_number, a.log_index)`;

/** The first purchase among the policies that are open at a time, by its block; undefined without open policies. */
async function firstPurchase(db: IndexQuery, time: bigint): Promise<bigint | undefined> {
  const [found] = await db.execute(sql`
    select min(${policy.blockNumber})::text as block from ${policy} where ${policy.expiresAt} >= ${numeric(time)}`);
  return z.object({ block: integer.nullable() }).parse(found).block ?? undefined;
}

/**
 * Builds the condition that an answer of the policy's feed is at or below its trigger price; undefined where no answer can be. It
 * compares with values, because Postgres would run a subquery for each policy.
 */
async function hasFallen(db: IndexQuery, answers: SQL): Promise<SQL | undefined> {
  const found = await db.execute(sql`
    select a.asset, min(a.answer)::text as lowest from (${answers}) a where a.answer > 0 group by a.asset`);
  const reached = z
    .array(z.object({ asset: hex, lowest: integer }))
    .parse([...found])
    .map(
      ({ asset, lowest }) =>
        sql`(${policy.asset} = ${asset} and ${policy.triggerPrice} >= ${numeric(lowest * FEED_TO_PRICE)})`,
    );
  return reached.length === 0 ? undefined : sql`(${sql.join(reached, sql` or `)})`;
}

/**
 * Reads the first `limit` policies that became due up to block `upTo`, which has the time `now` (Unix seconds), and have no stored event,
 * in chain order. Without `all`, only those that became so after block `after`, which has the time `since`; with it, whatever is open at
 * `since`, which is needed once for each build of the index: it may know rounds of a new aggregator that the last build did not, in
 * blocks that are final by now.
 */
export async function readDuePolicies(
  db: IndexQuery,
  chainId: number,
  options: { all: boolean; after: bigint; since: bigint; upTo: bigint; now: bigint; limit: number },
): Promise<ChainEvent[]> {
  const { all, since, upTo, now, limit } = options;
  const after = all ? await firstPurchase(db, since) : options.after;
  if (after === undefined) return [];
  const answers = answersSince(after, upTo);
  const fallen = await hasFallen(db, answers);
  if (fallen === undefined) return [];
  const key = policyKey("due", policy);
  const from = sql`greatest(a.block_timestamp, a.updated_at, ${policy.createdAt} + ${seconds(DWELL)})`;
  const found = await db.execute(sql`
    with answers as materialized (${answers})
    select ${policy.productId} as "productId", ${product.name} as "productName", ${policy.policyId}::text as "policyId",
      ${policy.buyer} as buyer, ${policy.coverage}::text as coverage, ${policy.payout}::text as payout,
      ${policy.triggerPrice}::text as "triggerPrice", ${policy.expiresAt}::text as "expiresAt", ${key} as key,
      ${occurrenceOf(chainId, key)} as occurrence, due.answer::text as price, due.updated_at::text as "priceAt",
      due.due_at::text as "dueAt", due.block_number::text as "blockNumber", due.log_index as "logIndex",
      due.block_hash as "blockHash", due.block_timestamp::text as timestamp, due.tx_hash as "txHash"
    from ${policy} left join ${product} on ${eq(product.productId, policy.productId)}
    cross join lateral (
      select a.*, ${from} as due_at from answers a
      where a.asset = ${policy.asset} and a.answer > 0 and a.answer <= div(${policy.triggerPrice}, ${PRICE_SCALE})
        and (a.block_number, a.log_index) > (${policy.blockNumber}, ${policy.logIndex})
        and ${from} <= least(a.updated_at + ${seconds(MAX_PRICE_AGE)}, ${policy.expiresAt})
        and (a.until is null or ${from} < a.until or (${from} = a.until and a.until_block > a.block_number))
      order by a.block_number, a.log_index limit 1) due
    where ${policy.expiresAt} >= ${numeric(since)} and ${fallen} and due.due_at <= ${numeric(now)}
      and (${policy.triggeredAt} is null or not exists (select from ${policyTrigger} t
        where t.product_id = ${policy.productId} and t.policy_id = ${policy.policyId}
          and t.block_number between ${policy.blockNumber} and due.block_number))
      and ${isNotStored(chainId, key, policy.blockNumber)}
    order by due.block_number, due.log_index, due.due_at, ${policy.productId}, ${policy.policyId} limit ${limit}`);
  return z
    .array(row)
    .parse([...found])
    .map(dueEvent);
}

function dueEvent({ key, occurrence, price, timestamp, ...due }: z.output<typeof row>): ChainEvent {
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
      price: String(price * FEED_TO_PRICE),
      priceAt: due.priceAt,
      expiresAt: due.expiresAt,
      dueAt: due.dueAt,
    },
  };
}
