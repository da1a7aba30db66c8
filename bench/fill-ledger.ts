/** Fills the relay ledger with as many purchases as a busy service has, without a chain. */
import type { Sql } from "postgres";

/** The wallet, chain and buyers of inserted rows; their keys are `hot <n>` and `old <n>`, their ids are {@link idOf}. */
export const filled = {
  chainId: 8453,
  relayer: `0x${"bb".repeat(20)}`,
  buyers: 1000,
  /** Days since the oldest hot purchases became final. */
  days: 20,
} as const;

const address = (of: string) => `'0x' || lpad(to_hex(${of} % ${filled.buyers}), 40, '0')`;
const hash = (of: string) => `'0x' || md5(${of}::text) || md5((-${of})::text)`;
const id = (of: string) => `lpad(to_hex(${of}), 32, '0')::uuid`;

export const buyerOf = (n: number): `0x${string}` =>
  `0x${(n % filled.buyers).toString(16).padStart(40, "0")}`;
export const idOf = (n: number): string =>
  n
    .toString(16)
    .padStart(32, "0")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

const PURCHASE_COLUMNS = `id, chain_id, wallet, idempotency_key, fingerprint, product_id, coverage_amount, asset, buyer,
  quoted_premium, created_at`;
const purchaseOf = (
  kind: string,
) => `${id("i")}, ${filled.chainId}, ${address("i")}, '${kind} ' || i, ${hash("i")},
  '0x' || repeat('1', 64), 100000000, '0x' || repeat('2', 64), ${address("i")}, 292000, at`;

/** Statements that insert `hot` purchases, all final, the first of them `filled.days` ago, one block each. */
const hotRows = (hot: number): [table: string, insert: string][] => {
  const source = `(select i, now() - make_interval(secs => ${filled.days * 86_400}.0 * (${hot} - i) / ${hot}) as at
    from generate_series(1, ${hot}) i) x`;
  return [
    [
      "purchase",
      `insert into service.purchase (${PURCHASE_COLUMNS}) select ${purchaseOf("hot")} from ${source}`,
    ],
    [
      "transaction",
      `insert into service.transaction (id, chain_id, wallet, nonce, kind, intent, payer, client, quoted_premium, "to", data, gas_limit,
      created_at, opened_at, gas_reserved, hash, block_number, block_hash, outcome, gas_cost, settled_at, policy_id, premium_paid, final_at)
    select i, ${filled.chainId}, '${filled.relayer}', i - 1, 'purchase', ${id("i")}, ${address("i")}, ${address("i")},
      292000, '0x' || repeat('c', 40),
      '0x' || repeat('ab', 164), 400000, at, at, 1000, ${hash("i")}, i, ${hash("i")}, 'done', 900, at, i, 292000, at
    from ${source}`,
    ],
    [
      "attempt",
      `insert into service.attempt (hash, id, transaction_id, signed, max_fee, priority_fee, fencing_token, created_at)
    select ${hash("i")}, i, i, '0x' || repeat('ab', 280), 30, 1, 1, at from ${source}`,
    ],
  ];
};

const archivedRows = (hot: number, archived: number) =>
  `insert into service.archived_purchase (${PURCHASE_COLUMNS}, standing, state, tx_hash, block_number, block_hash, policy_id,
    premium_paid, settled_at, final_at, transactions)
  select ${purchaseOf("old")}, true, 'confirmed', ${hash("i")}, i, ${hash("i")}, i, 292000, at, at,
    json_build_array(json_build_object('wallet', '${filled.relayer}', 'nonce', i::text, 'state', 'final', 'createdAt', at,
      'gasCost', '900', 'attempts', json_build_array(json_build_object('hash', ${hash("i")}, 'cancels', false, 'maxFee', '30',
      'priorityFee', '1', 'fencingToken', '1', 'createdAt', at, 'lastBroadcastAt', at))))
  from (select i, now() - interval '60 days' as at from generate_series(${hot + 1}, ${hot + archived}) i) x`;

/** Tables that grow with the purchases. */
export const bigTables = ["purchase", "transaction", "attempt", "archived_purchase"] as const;

/** The indexes of a table that no constraint owns are dropped while rows are inserted: that is several times faster. */
async function withoutIndexes(sql: Sql, table: string, insert: () => Promise<unknown>): Promise<void> {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select i.indexname as name, i.indexdef as definition from pg_indexes i
    where i.schemaname = 'service' and i.tablename = ${table}
      and not exists (select 1 from pg_constraint c where c.conname = i.indexname)`;
  for (const { name } of indexes) await sql`drop index service.${sql(name)}`;
  await insert();
  for (const { definition } of indexes) await sql.unsafe(definition);
}

/** Inserts the rows of big tables; a write-ahead log, triggers and foreign keys wait until they are there. */
async function fill(sql: Sql, rows: readonly (readonly [table: string, insert: string])[]): Promise<void> {
  await sql`set session_replication_role = replica`;
  await sql`set maintenance_work_mem = '256MB'`;
  // A table that refers to another comes first.
  for (const [table] of rows.toReversed()) await sql`alter table service.${sql(table)} set unlogged`;
  for (const [table, insert] of rows) {
    await withoutIndexes(sql, table, () => sql.unsafe(insert));
    await sql`analyze service.${sql(table)}`;
  }
  for (const [table] of rows) await sql`alter table service.${sql(table)} set logged`;
  await sql`set session_replication_role = default`;
}

/** Inserts final purchases of one relayer's wallet into an empty ledger. */
export async function fillLedger(sql: Sql, hot: number): Promise<void> {
  await sql`
    insert into service.relayer_wallet (chain_id, address, next_nonce, open_from, final_below)
    values (${filled.chainId}, ${filled.relayer}, ${hot}, ${hot}, ${hot - Math.min(hot, 100)})`;
  await fill(sql, hotRows(hot));
  await sql`select setval('service.transaction_id_seq', ${hot}), setval('service.attempt_id_seq', ${hot})`;
}

/** Inserts archived purchases into a ledger with `hot` current ones. */
export const archiveRows = (sql: Sql, hot: number, archived: number): Promise<void> =>
  fill(sql, [["archived_purchase", archivedRows(hot, archived)]]);
