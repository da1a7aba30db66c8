import { type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { Hex } from "viem";
import { z } from "zod";
import { oraclePhase, oracleRound, policy } from "../../ponder.schema.ts";
import type { ChainEvent, ChainEventType, StoredEvent } from "./event.ts";
import { sources } from "./sources/index.ts";
import type { EventTable, IndexQuery, LogEvent, LogPosition, Source } from "./sources/source.ts";

/** The stored key of a log's event. */
const keyOf = ({ blockHash, txHash, logIndex }: Pick<EventTable, "blockHash" | "txHash" | "logIndex">) =>
  sql`${blockHash} || ':' || ${txHash} || ':' || ${logIndex}`;

/**
 * The stored key of an event that happens once to a policy. A product that is registered anew counts from 1 again: its later
 * policies have the same keys, and an event below a policy's purchase is of an earlier one.
 */
export const policyKey = (
  what: "expired" | "due",
  { productId, policyId }: { productId: PgColumn; policyId: PgColumn },
) => sql<string>`${sql.raw(`'${what}:'`)} || ${productId} || ':' || ${policyId}`;

/**
 * True when no stored event has this key, apart from reverted ones and those below block `since`. A subquery for each row always
 * uses the index on the keys; for a join, Postgres may scan the whole table.
 */
export const isNotStored = (chainId: number, key: SQL, since?: PgColumn) => sql`(
  select true from service.event e where e.chain_id = ${chainId} and e.key = ${key} and e.reverted_at is null
    ${since ? sql`and e.block_number >= ${since}` : sql``} limit 1) is null`;

/** How many events with this key have happened, the new one included. */
export const occurrenceOf = (chainId: number, key: SQL) => sql<number>`1 + coalesce((
  select max(e.occurrence) from service.event e where e.chain_id = ${chainId} and e.key = ${key}), 0)`;

const integer = z.string().transform(BigInt);
const newRow = z.object({
  type: z.string(),
  blockNumber: integer,
  logIndex: z.number(),
  key: z.string(),
  occurrence: z.number(),
});
type NewRow = z.output<typeof newRow>;

/** The first `limit` indexed logs above block `after` and up to block `upTo` without a stored event, in chain order. */
async function findNew(
  db: IndexQuery,
  chainId: number,
  { after, upTo, limit }: { after: bigint; upTo: bigint; limit: number },
): Promise<NewRow[]> {
  const branches = sources.map(({ type, table }) => {
    const { blockNumber, logIndex } = table;
    return sql`(
      select ${type}::text as type, ${blockNumber} as block_number, ${logIndex} as log_index, ${keyOf(table)} as key
      from ${table}
      where ${blockNumber} > ${String(after)}::numeric and ${blockNumber} <= ${String(upTo)}::numeric
        and ${isNotStored(chainId, keyOf(table))}
      order by ${blockNumber}, ${logIndex} limit ${limit})`;
  });
  const found = await db.execute(sql`
    select type, block_number::text as "blockNumber", log_index as "logIndex", key,
      ${occurrenceOf(chainId, sql`found.key`)} as occurrence
    from (${sql.join(branches, sql` union all `)} order by 2, 3 limit ${limit}) found
    order by found.block_number, found.log_index`);
  return z.array(newRow).parse([...found]);
}

const positionKey = ({ blockNumber, logIndex }: LogPosition) => `${blockNumber}:${logIndex}`;

/** Reads the events of a source between its first and its last row. */
async function readSource(
  db: IndexQuery,
  source: Source,
  rows: readonly NewRow[],
): Promise<readonly LogEvent[]> {
  const own = rows.filter(({ type }) => type === source.type);
  const [first, last] = [own[0], own.at(-1)];
  return first && last ? source.read(db, first, last) : [];
}

/** New events of logs. `firstOmitted` is the block of the first event beyond the limit. */
export type NewEvents = { readonly events: readonly ChainEvent[]; readonly firstOmitted: bigint | undefined };

/** Reads the first `limit` events of logs above block `after` and up to block `upTo` that are not stored, in chain order. */
export async function readNewEvents(
  db: IndexQuery,
  chainId: number,
  { after, upTo, limit }: { after: bigint; upTo: bigint; limit: number },
): Promise<NewEvents> {
  const found = await findNew(db, chainId, { after, upTo, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const logEvents = (await Promise.all(sources.map((source) => readSource(db, source, rows)))).flat();
  const byPosition = new Map(
    logEvents.map((event) => [
      positionKey({ blockNumber: event.block.number, logIndex: event.log.index }),
      event,
    ]),
  );
  const events = rows.map(({ key, occurrence, ...row }) => {
    const event = byPosition.get(positionKey(row));
    if (!event) throw new Error(`two reads of one snapshot disagree about the log ${key}`);
    return { ...event, key, occurrence };
  });
  return { events, firstOmitted: found[limit]?.blockNumber };
}

const isText = (value: unknown) => typeof value === "string";
const storedRow = z.object({
  seq: z.string(),
  id: z.string(),
  type: z.custom<ChainEventType>(isText),
  blockNumber: z.string(),
  blockHash: z.custom<Hex>(isText),
  txHash: z.custom<Hex>(isText).nullable(),
  logIndex: z.number().nullable(),
  parties: z.array(z.custom<Hex>(isText)),
  body: z.string(),
  indexed: z.boolean(),
});

/** Reads the blocks above block `head` that have stored events: the index had reached them before it went back. */
export async function readBlocksAhead(
  db: IndexQuery,
  chainId: number,
  head: bigint,
): Promise<{ number: bigint; hash: string }[]> {
  const found = await db.execute(sql`
    select distinct block_number::text as number, block_hash as hash from service.event
    where chain_id = ${chainId} and block_number > ${String(head)}::bigint and reverted_at is null and reverts is null`);
  return z.array(z.object({ number: integer, hash: z.string() })).parse([...found]);
}

/** Whether a table has a row of the stored event's log. */
const hasLog = (table: EventTable) => {
  const { blockNumber, logIndex, blockHash, txHash } = table;
  return sql`(select true from ${table} where ${blockNumber} = e.block_number::numeric
    and ${logIndex} = e.log_index and ${blockHash} = e.block_hash and ${txHash} = e.tx_hash limit 1)`;
};

/**
 * Reads the stored events above block `after` and up to block `upTo` that a reorganisation may have reverted: those for which
 * the index has no row, and every expiry, because the index does not have its block. An expiry's row is a policy of the same
 * buyer that has expired at `time` and was not triggered. A policy is due as long as the log that made it due
 * exists: what came before it is the same in each chain with its block. A policy that became due later than its log, within 300 seconds of
 * its purchase, stays so though the new blocks have another round by then.
 */
export async function readDoubtfulEvents(
  db: IndexQuery,
  chainId: number,
  { after, upTo, time }: { after: bigint; upTo: bigint; time: bigint },
): Promise<StoredEvent[]> {
  // The case looks up each event in one table.
  const cases = sources.map(({ type, table }) => sql`when ${type} then ${hasLog(table)}`);
  const due = sql`coalesce(${sql.join([oracleRound, oraclePhase].map(hasLog), sql`, `)})`;
  const expired = sql`(select true from ${policy} where ${policy.productId} = split_part(e.key, ':', 2)
    and ${policy.policyId} = split_part(e.key, ':', 3)::numeric and ${policy.expiresAt} < ${String(time)}::numeric
    and ${policy.triggeredAt} is null and ${policy.buyer} = e.parties[1] limit 1)`;
  const found = await db.execute(sql`
    select e.seq::text, e.id, e.type, e.block_number::text as "blockNumber", e.block_hash as "blockHash",
      e.tx_hash as "txHash", e.log_index as "logIndex", to_json(e.parties) as parties, e.body, found.indexed
    from service.event e cross join lateral (
      select (case e.type ${sql.join(cases, sql` `)} when 'policy_expired' then ${expired} when 'policy_due' then ${due} end)
        is not null as indexed offset 0) found
    where e.chain_id = ${chainId} and e.block_number > ${String(after)}::bigint and e.block_number <= ${String(upTo)}::bigint
      and e.reverted_at is null and e.reverts is null
      and (e.type = 'policy_expired' or not found.indexed)
    order by e.seq`);
  return z.array(storedRow).parse([...found]);
}
