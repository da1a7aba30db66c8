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

/** The transactions of `hot` purchases: every second one has a permit, right before it. */
export const sentFor = (hot: number): number => hot + Math.floor(hot / 2);

/** The id of a purchase's permit. */
const permitId = (of: string) => id(`${of} + 4294967296`);

/**
 * Statements that insert `hot` purchases, all final, the first of them `filled.days` ago, one block each. Every second one is of a key
 * with a daily limit, every fourth one has a trace.
 */
const hotRows = (hot: number): [table: string, insert: string][] => {
  const source = `(select i, now() - make_interval(secs => ${filled.days * 86_400}.0 * (${hot} - i) / ${hot}) as at
    from generate_series(1, ${hot}) i) x`;
  const calls = `(select i, at, is_permit, i + i / 2 - is_permit::int as n
    from ${source}, (values (false), (true)) kinds (is_permit) where not is_permit or i % 2 = 0) y`;
  return [
    [
      "purchase",
      `insert into service.purchase (${PURCHASE_COLUMNS}) select ${purchaseOf("hot")} from ${source}`,
    ],
    [
      "permit",
      `insert into service.permit (id, purchase_id, value, deadline, signature)
    select ${permitId("i")}, ${id("i")}, 292000, 4294967295, '0x' || repeat('ab', 65) from ${source} where i % 2 = 0`,
    ],
    [
      "key_premium",
      `insert into service.key_premium (purchase_id, key_id, day, premium)
    select ${id("i")}, i % ${filled.buyers}, (at at time zone 'utc')::date, 292000 from ${source} where i % 2 = 1`,
    ],
    [
      "purchase_trace",
      `insert into service.purchase_trace (purchase_id, traceparent)
    select ${id("i")}, '00-' || md5(i::text) || '-' || repeat('1', 16) || '-01' from ${source} where i % 4 = 0`,
    ],
    [
      "transaction",
      `insert into service.transaction (id, chain_id, wallet, nonce, kind, intent, payer, client, quoted_premium, "to", data, gas_limit,
      created_at, opened_at, gas_reserved, hash, block_number, block_hash, outcome, gas_cost, settled_at, policy_id, premium_paid, final_at)
    select n, ${filled.chainId}, '${filled.relayer}', n - 1, case when is_permit then 'permit' else 'purchase' end,
      case when is_permit then ${permitId("i")} else ${id("i")} end, ${address("i")}, ${address("i")},
      case when not is_permit then 292000 end, '0x' || repeat('c', 40),
      '0x' || repeat('ab', 164), 400000, at, at, 1000, ${hash("n")}, i, ${hash("i")}, 'done', 900, at,
      case when not is_permit then i end, case when not is_permit then 292000 end, at
    from ${calls}`,
    ],
    [
      "attempt",
      `insert into service.attempt (hash, id, transaction_id, signed, max_fee, priority_fee, fencing_token, created_at)
    select ${hash("n")}, n, n, '0x' || repeat('ab', 280), 30, 1, 1, at from ${calls}`,
    ],
  ];
};

const archivedRows = (hot: number, archived: number) =>
  `insert into service.archived_purchase (${PURCHASE_COLUMNS}, answers_repeats, state, tx_hash, block_number, block_hash, policy_id,
    premium_paid, settled_at, final_at, transactions)
  select ${purchaseOf("old")}, true, 'confirmed', ${hash("i")}, i, ${hash("i")}, i, 292000, at, at,
    json_build_array(json_build_object('wallet', '${filled.relayer}', 'nonce', i::text, 'state', 'final', 'createdAt', at,
      'gasCost', '900', 'attempts', json_build_array(json_build_object('hash', ${hash("i")}, 'cancels', false, 'maxFee', '30',
      'priorityFee', '1', 'fencingToken', '1', 'createdAt', at, 'lastBroadcastAt', at))))
  from (select i, now() - interval '60 days' as at from generate_series(${hot + 1}, ${hot + archived}) i) x`;

/** Tables that grow with the purchases. */
export const bigTables = [
  "purchase",
  "permit",
  "key_premium",
  "purchase_trace",
  "transaction",
  "attempt",
  "archived_purchase",
] as const;

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
  const sent = sentFor(hot);
  await sql`
    insert into service.relayer_wallet (chain_id, address, next_nonce, open_from, final_below)
    values (${filled.chainId}, ${filled.relayer}, ${sent}, ${sent}, ${sent - Math.min(sent, 100)})`;
  await sql`update service.relayer_wallet set compared_with = pg_postmaster_start_time(), fenced_with = pg_postmaster_start_time() where address = ${filled.relayer}`;
  await fill(sql, hotRows(hot));
  await sql`select setval('service.transaction_id_seq', ${sent}), setval('service.attempt_id_seq', ${sent})`;
}

/** Inserts archived purchases into a ledger with `hot` current ones. */
export const archiveRows = (sql: Sql, hot: number, archived: number): Promise<void> =>
  fill(sql, [["archived_purchase", archivedRows(hot, archived)]]);
