import { type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { Hex } from "viem";
import { z } from "zod";
import { policy } from "../../ponder.schema.ts";
import type { ChainEvent, ChainEventType, StoredEvent } from "./event.ts";
import { sources } from "./sources/index.ts";
import type { EventTable, IndexQuery, LogEvent, Position, Source } from "./sources/source.ts";

/** The key of a log's event, as it is stored with it. */
const keyOf = ({ blockHash, txHash, logIndex }: Pick<EventTable, "blockHash" | "txHash" | "logIndex">) =>
  sql`${blockHash} || ':' || ${txHash} || ':' || ${logIndex}`;

/** The key of a policy's expiry. */
export const expiryKey = ({ productId, policyId }: { productId: PgColumn; policyId: PgColumn }) =>
  sql<string>`'expired:' || ${productId} || ':' || ${policyId}`;

/**
 * True when no stored event that stands has this key. As a query of its own for each row, it is always answered by the
 * index on the keys; as a join, Postgres may take the whole table for it.
 */
export const isNew = (chainId: number, key: SQL) => sql`(
  select true from service.event e where e.chain_id = ${chainId} and e.key = ${key} and e.reverted_at is null limit 1) is null`;

/** How often an event with this key has happened, this time included. */
export const occurrenceOf = (chainId: number, key: SQL) => sql<number>`1 + coalesce((
  select max(e.occurrence) from service.event e where e.chain_id = ${chainId} and e.key = ${key}), 0)`;

const newRow = z.object({
  type: z.string(),
  block_number: z.string(),
  log_index: z.number(),
  key: z.string(),
  occurrence: z.number(),
});
type NewRow = z.output<typeof newRow>;

/** The first `limit` rows after block `after` and up to block `upTo` that are not stored as events, in their order. */
async function findNew(
  db: IndexQuery,
  chainId: number,
  { after, upTo, limit }: { after: bigint; upTo: bigint; limit: number },
): Promise<NewRow[]> {
  const branches = sources.map(({ type, table, only }) => {
    const { blockNumber, logIndex } = table;
    return sql`(
      select ${type}::text as type, ${blockNumber} as block_number, ${logIndex} as log_index, ${keyOf(table)} as key
      from ${table}
      where ${blockNumber} > ${String(after)}::numeric and ${blockNumber} <= ${String(upTo)}::numeric
        and ${only ?? sql`true`} and ${isNew(chainId, keyOf(table))}
      order by ${blockNumber}, ${logIndex} limit ${limit})`;
  });
  const found = await db.execute(sql`
    select type, block_number::text, log_index, key, ${occurrenceOf(chainId, sql`found.key`)} as occurrence
    from (${sql.join(branches, sql` union all `)} order by 2, 3 limit ${limit}) found
    order by found.block_number, found.log_index`);
  return z.array(newRow).parse([...found]);
}

const at = ({ blockNumber, logIndex }: Position) => `${blockNumber}:${logIndex}`;
const positionOf = (row: Pick<NewRow, "block_number" | "log_index">): Position => ({
  blockNumber: BigInt(row.block_number),
  logIndex: row.log_index,
});

/** What a source tells of those of the rows that are of its type. */
async function tell(db: IndexQuery, source: Source, rows: readonly NewRow[]): Promise<readonly LogEvent[]> {
  const own = rows.filter(({ type }) => type === source.type).map(positionOf);
  const [first, last] = [own[0], own.at(-1)];
  return first && last ? source.read(db, first, last) : [];
}

/** New events of logs; `untaken` is the block of the first one that there was no room for. */
export type NewEvents = { readonly events: readonly ChainEvent[]; readonly untaken: bigint | undefined };

/** The first `limit` events of logs after block `after` and up to block `upTo` that are not stored, in their order. */
export async function readNewEvents(
  db: IndexQuery,
  chainId: number,
  { after, upTo, limit }: { after: bigint; upTo: bigint; limit: number },
): Promise<NewEvents> {
  const found = await findNew(db, chainId, { after, upTo, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const told = (await Promise.all(sources.map((source) => tell(db, source, rows)))).flat();
  const byPosition = new Map(
    told.map((event) => [at({ blockNumber: event.block.number, logIndex: event.log.index }), event]),
  );
  const events = rows.map(({ key, occurrence, ...row }) => {
    const event = byPosition.get(at(positionOf(row)));
    if (!event) throw new Error(`the row of ${key} is gone in the snapshot that has it`);
    return { ...event, key, occurrence };
  });
  const untaken = found[limit];
  return { events, untaken: untaken && positionOf(untaken).blockNumber };
}

const storedRow = z.object({
  seq: z.string(),
  id: z.string(),
  type: z.custom<ChainEventType>((type) => typeof type === "string"),
  block_number: z.string(),
  block_hash: z.custom<Hex>((hash) => typeof hash === "string"),
  tx_hash: z.custom<Hex>((hash) => typeof hash === "string").nullable(),
  log_index: z.number().nullable(),
  parties: z.array(z.custom<Hex>((wallet) => typeof wallet === "string")),
  body: z.string(),
});

/** Blocks above block `head` of which stored events stand: the index was there once, and is behind that now. */
export async function readBlocksAhead(
  db: IndexQuery,
  chainId: number,
  head: bigint,
): Promise<{ number: bigint; hash: string }[]> {
  const found = await db.execute(sql`
    select distinct block_number::text as number, block_hash as hash from service.event
    where chain_id = ${chainId} and block_number > ${String(head)}::bigint and reverted_at is null and reverts is null`);
  return z
    .array(z.object({ number: z.string(), hash: z.string() }))
    .parse([...found])
    .map(({ number, hash }) => ({ number: BigInt(number), hash }));
}

/**
 * Stored events that stand, after block `after` and up to block `upTo`, of which the index has no row. For an expiry that
 * is a policy of the same buyer's which at `time` has expired.
 */
export async function readVanished(
  db: IndexQuery,
  chainId: number,
  { after, upTo, time }: { after: bigint; upTo: bigint; time: bigint },
): Promise<StoredEvent[]> {
  // One row each, for which the case asks one table.
  const cases = sources.map(({ type, table }) => {
    const { blockNumber, logIndex, blockHash, txHash } = table;
    return sql`when ${type} then (select true from ${table} where ${blockNumber} = e.block_number::numeric
      and ${logIndex} = e.log_index and ${blockHash} = e.block_hash and ${txHash} = e.tx_hash limit 1)`;
  });
  const expired = sql`(select true from ${policy} where ${policy.productId} = split_part(e.key, ':', 2)
    and ${policy.policyId} = split_part(e.key, ':', 3)::numeric and ${policy.expiresAt} < ${String(time)}::numeric
    and ${policy.triggeredAt} is null and ${policy.cancelledAt} is null and ${policy.buyer} = e.parties[1] limit 1)`;
  const found = await db.execute(sql`
    select e.seq::text, e.id, e.type, e.block_number::text, e.block_hash, e.tx_hash, e.log_index,
      to_json(e.parties) as parties, e.body
    from service.event e
    where e.chain_id = ${chainId} and e.block_number > ${String(after)}::bigint and e.block_number <= ${String(upTo)}::bigint
      and e.reverted_at is null and e.reverts is null
      and (case e.type ${sql.join(cases, sql` `)} when 'policy_expired' then ${expired} end) is null
    order by e.seq`);
  return z
    .array(storedRow)
    .parse([...found])
    .map((row) => ({
      seq: row.seq,
      id: row.id,
      type: row.type,
      blockNumber: row.block_number,
      blockHash: row.block_hash,
      txHash: row.tx_hash,
      logIndex: row.log_index,
      parties: row.parties,
      body: row.body,
    }));
}

/** Subscriptions that every burn is for. */
export async function countBurnSubscriptions(db: IndexQuery, chainId: number): Promise<number> {
  const [row] = await db.execute(sql`
    select count(*)::int as count from service.webhook
    where chain_id = ${chainId} and events && array['*', 'token_burned'] and state = 'active'`);
  return z.object({ count: z.number() }).parse(row).count;
}
