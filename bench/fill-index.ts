/** Inserts as many rows into the indexed tables as a busy protocol has after years, without a chain. */
import { createHash } from "node:crypto";
import type { Sql } from "postgres";
import * as indexed from "../ponder.schema.ts";
import { keptTable } from "../src/shared/sums/statements.ts";
import { recompute, sumsOf } from "../src/shared/sums/sum-table.ts";

export type Sizes = {
  readonly policies: number;
  readonly burns: number;
  /** The number of rows of each other kind: transfers and redemptions of bonds, listings, sales, triggers, price rounds. */
  readonly others: number;
  /** The number of wallets over which the rows are spread. */
  readonly wallets: number;
};

export const million: Sizes = {
  policies: 1_000_000,
  burns: 100_000,
  others: 100_000,
  wallets: 20_000,
};
/** As many rows per wallet, for far fewer wallets. */
export const small: Sizes = {
  policies: 10_000,
  burns: 1_000,
  others: 1_000,
  wallets: 200,
};

/**
 * The address of one of the wallets, by its index, modulo their number. Addresses are spread as real ones are: among the lowest of all,
 * Postgres expects few rows of each, and plans a prepared statement again each time that it runs.
 */
export function walletOf(index: number, wallets: number): `0x${string}` {
  const hash = createHash("md5")
    .update(String(index % wallets))
    .digest("hex");
  return `0x${hash}${hash.slice(0, 8)}`;
}

/** A block number above that of every row. */
export const ABOVE_ALL = 10_000_000_000_000;

/** The number of redemptions that wait in the queue. */
export const waitingOf = ({ others }: Pick<Sizes, "others">): number => others / 100;

/** The same in SQL; `index` is an expression. */
export const walletExpression = (index: string, wallets: number): string => {
  const hash = `md5((${index} % ${wallets})::text)`;
  return `'0x' || ${hash} || left(${hash}, 8)`;
};

/** The log index of all inserted rows. Events of a local chain have lower ones. */
const LOG_INDEX = 100;
/** The id of the first inserted price round, of phase 1. */
const FIRST_ROUND = 2n ** 64n + 1_000_000n;
/** The first bond epoch of inserted rows, which have those of one year: January 2030. */
const FIRST_EPOCH = 203_001;
const EPOCHS = 12;
const YEARS_SECONDS = 2 * 365 * 86_400;

const FILLED = [
  "policy",
  "bond_issue",
  "bond_redemption",
  "token_burn",
  "burn_execution",
  "listing",
  "sale",
  "proceeds_event",
  "policy_trigger",
  "policy_observation",
  "oracle_round",
  "bond_transfer",
  "redemption_queue",
  "burner_income",
  "vault_event",
] as const;

/**
 * Inserts rows into the tables of `schema` that the api reads, spread over the two years before `now` (Unix seconds), and
 * updates their sums. Events of one type follow each other in time, so the first types are the oldest. The inserts skip
 * the tables' triggers; indexes are dropped first and created again in the end.
 */
export async function fillIndex(sql: Sql, schema: string, sizes: Sizes, now: number): Promise<void> {
  const table = (name: string) => sql`${sql(schema)}.${sql(name)}`;
  const { policies, burns, others, wallets } = sizes;
  const waiting = waitingOf(sizes);
  const wallet = (of: string) => sql.unsafe(walletExpression(of, wallets));
  const hash = sql.unsafe(`'0x' || md5(i::text) || md5((-i)::text)`);
  /** The position of the i-th of `count` events: one event per block, at equal intervals. */
  const position = (count: number) =>
    sql.unsafe(`i as block_number, ${LOG_INDEX} as log_index, '0x' || md5(i::text) || md5(i::text) as block_hash,
      ${now} - ${YEARS_SECONDS} + (i::numeric * ${YEARS_SECONDS} / ${count})::bigint as block_timestamp`);
  const positionColumns = sql`block_number, log_index, block_hash, block_timestamp, tx_hash`;

  const indexes = await sql<{ name: string; definition: string }[]>`
    select i.indexname as name, i.indexdef as definition from pg_indexes i
    where i.schemaname = ${schema} and not exists (
      select 1 from pg_constraint c where c.conname = i.indexname and c.connamespace = ${schema}::regnamespace)`;
  const products = await sql<
    { product_id: string; shield: string; asset: string; duration_seconds: string }[]
  >`
    select product_id, shield, asset, coalesce(duration_seconds, 3600)::text as duration_seconds from ${table("product")} order by name`;
  const [product] = products;
  if (!product) throw new Error(`${schema} has no products: index a chain first`);

  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    // Delete the rows of an earlier call. The chain's own events have lower log indexes and lower ids.
    for (const name of FILLED) await tx`delete from ${table(name)} where log_index >= ${LOG_INDEX}`;
    for (const { name } of indexes) await tx`drop index ${sql(schema)}.${sql(name)}`;
    await tx`
      insert into ${table("policy")} (product_id, policy_id, shield, buyer, paid_by, coverage, premium, payout, price_snapshot,
        created_at, expires_at, triggered_at, asset, strike, trigger_price, observations,
        ${positionColumns})
      select ${product.product_id}, 1000000 + i, ${product.shield}, ${wallet("i")}, ${wallet("i")}, 1000000000, 2920000, 800000000, 1,
        block_timestamp, block_timestamp + ${product.duration_seconds}::numeric,
        case when i % 20 = 0 then block_timestamp + 60 end,
        ${product.asset}, 60000000000000000000000, 58500000000000000000000,
        case when i % 20 = 0 then 3 else 0 end, block_number, log_index, block_hash, block_timestamp, ${hash}
      from (select i, ${position(policies)} from generate_series(1, ${policies}) i) p`;
    await tx`
      insert into ${table("bond_issue")} (holder, epoch_id, usd_amount, ${positionColumns})
      select ${wallet("i")}, ${FIRST_EPOCH}, 800, block_number, log_index, block_hash, block_timestamp, ${hash}
      from (select i, ${position(others)} from generate_series(1, ${others}) i) b`;
    await tx`
      insert into ${table("token_burn")} (burner, token_amount, source, usdc_spent, effective_price, ${positionColumns})
      select ${wallet("i")}, 1000000000000000000,
        (array['direct', 'twap_burner', 'buyback_engine'])[1 + i * 3 / ${burns + 1}], 1000000, 100000000000000000,
        block_number, log_index, block_hash, block_timestamp, ${hash}
      from (select i, ${position(burns)} from generate_series(1, ${burns}) i) b`;
    await tx`
      insert into ${table("burn_execution")}
        (usdc_spent, token_burned, effective_price, executed_at, ${positionColumns})
      select 1000000, 1000000000000000000, 100000000000000000,
        block_timestamp, block_number, log_index, block_hash, block_timestamp, ${hash}
      from (select i, ${position(burns)} from generate_series(1, ${burns}) i) b`;
    await tx`
      insert into ${table("bond_transfer")} (item, operator, "from", "to", epoch_id, amount, ${positionColumns})
      select 0, ${wallet("i")}, ${`0x${"0".repeat(40)}`}, ${wallet("i")}, ${FIRST_EPOCH} + (i - 1) / ${wallets} % ${EPOCHS}, 800 + i % 100,
        block_number, log_index, block_hash, block_timestamp, ${hash}
      from (select i, ${position(others)} from generate_series(1, ${others}) i) t`;
    await tx`
      insert into ${table("bond_redemption")}
        (holder, epoch_id, usd_amount, token_amount, price_used, queue_id, ${positionColumns})
      select ${wallet("i")}, ${FIRST_EPOCH}, 800, 8000000000000000000000, 100000000000000000, null,
        block_number, log_index, block_hash, block_timestamp, ${hash}
      from (select i, ${position(others)} from generate_series(1, ${others}) i) r`;
    await tx`
      insert into ${table("redemption_queue")} (queue_id, holder, epoch_id, usd_amount, target_epoch, status, ${positionColumns})
      select 1000000 + i, ${wallet("i")}, ${FIRST_EPOCH}, 800, div(block_timestamp, 604800) + 1,
        case when i > ${others - waiting} then 'queued' else 'paid' end,
        block_number, log_index, block_hash, block_timestamp, ${hash}
      from (select i, ${position(others)} from generate_series(1, ${others}) i) q`;
    await tx`
      insert into ${table("burner_income")} ("from", usdc_amount, ${positionColumns})
      select ${wallet("i")}, 2920000, block_number, log_index, block_hash, block_timestamp, ${hash}
      from (select i, ${position(others)} from generate_series(1, ${others}) i) b`;
    await tx`
      insert into ${table("vault_event")} (kind, amount, new_total, ${positionColumns})
      select (array['reserved', 'committed', 'released'])[1 + i % 3], 800000000, 800000000, block_number, log_index, block_hash,
        block_timestamp, ${hash}
      from (select i, ${position(others)} from generate_series(1, ${others}) i) v`;
    await tx`
      insert into ${table("listing")} (listing_id, seller, epoch_id, amount, price, unit_price, status, ${positionColumns})
      select 1000000 + i, ${wallet("i")}, ${FIRST_EPOCH} + i % ${EPOCHS}, 800, price, price / 800,
        (array['active', 'sold', 'cancelled'])[1 + i * 3 / ${others + 1}], block_number, log_index, block_hash, block_timestamp, ${hash}
      from (select i, 500000000 + i % 1000 * 1000000 as price, ${position(others)} from generate_series(1, ${others}) i) l`;
    await tx`
      insert into ${table("sale")} (listing_id, buyer, seller, price, seller_fee, buyer_fee, epoch_id, amount, unit_price,
        listed_at, ${positionColumns})
      select 1000000 + i, ${wallet("i")}, ${wallet("(i + 1)")}, 900000000, 13500000, 13500000, ${FIRST_EPOCH}, 800, 1125000,
        block_timestamp - 60, block_number, log_index, block_hash, block_timestamp, ${hash}
      from (select i, ${position(others)} from generate_series(1, ${others}) i) s`;
    await tx`
      insert into ${table("proceeds_event")} (kind, seller, amount, ${positionColumns})
      select 'credited', ${wallet("(i + 1)")}, 886500000, block_number, log_index, block_hash, block_timestamp, ${hash}
      from (select i, ${position(others)} from generate_series(1, ${others}) i) p`;
    await tx`
      insert into ${table("policy_trigger")}
        (product_id, policy_id, buyer, bond_amount, reason, submitter, bond_epoch_id, ${positionColumns})
      select ${product.product_id}, 1000000 + i * 20, ${wallet("i")}, 800, '0x', ${wallet("i")}, ${FIRST_EPOCH}, block_number,
        log_index, block_hash, block_timestamp, ${hash}
      from (select i, ${position(others)} from generate_series(1, ${others}) i) t`;
    await tx`
      insert into ${table("policy_observation")} (product_id, policy_id, count, drop_bps, reason, ${positionColumns})
      select ${product.product_id}, 1000000 + (i + 2) / 3 * 20, 1 + (i - 1) % 3, 300, '0x', block_number, log_index, block_hash,
        block_timestamp, ${hash}
      from (select i, ${position(others)} from generate_series(1, ${others}) i) o`;
    // Low enough for each open policy to be due, at the end of its first five minutes.
    await tx`
      insert into ${table("oracle_round")} (asset, round_id, phase, answer, updated_at, ${positionColumns})
      select ${product.asset}, ${String(FIRST_ROUND)}::numeric + i, 1, 5800000000000, block_timestamp, block_number,
        log_index, block_hash, block_timestamp, ${hash}
      from (select i, ${position(others)} from generate_series(1, ${others}) i) r`;
    await tx`
      update ${table("oracle_feed")} set answer = 5800000000000, updated_at = ${now}::bigint where asset = ${product.asset}`;
    // The inserted policies have ended before the local feed's phase began: without it no round would count for them.
    await tx`update ${table("oracle_phase")} set block_number = 0, block_timestamp = 0`;
    for (const sum of sumsOf(indexed)) {
      const kept = keptTable(sum, schema);
      await tx.unsafe(`truncate ${kept}`);
      await tx.unsafe(`insert into ${kept} select *, 1 from (${recompute(sum, schema)}) s`);
    }
    for (const { definition } of indexes) await tx.unsafe(definition);
  });
  const facts = FILLED.map((name) => `"${schema}".${name}`);
  const kept = sumsOf(indexed).map((sum) => keptTable(sum, schema));
  await sql.unsafe(`analyze ${[...facts, ...kept].join(", ")}`);
}

/** Copies all tables of `from`, with their rows and indexes, and its views to a new schema. Triggers are not copied. */
export async function copyTables(sql: Sql, from: string, to: string): Promise<void> {
  await sql`create schema ${sql(to)}`;
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = ${from} and table_type = 'BASE TABLE' and (left(table_name, 1) <> '_' or table_name = '_ponder_checkpoint')`;
  for (const { name } of tables) {
    await sql`create table ${sql(to)}.${sql(name)} (like ${sql(from)}.${sql(name)} including all)`;
    await sql`insert into ${sql(to)}.${sql(name)} select * from ${sql(from)}.${sql(name)}`;
  }
  // A view may read views that are older.
  const views = await sql<{ name: string; definition: string }[]>`
    select relname as name, pg_get_viewdef(oid) as definition from pg_class
    where relnamespace = ${from}::regnamespace and relkind = 'v' order by oid`;
  for (const { name, definition } of views) {
    await sql.unsafe(`create view "${to}"."${name}" as ${definition.replaceAll(`${from}.`, `${to}.`)}`);
  }
}
