/** What the api's role may do. A new table, column, sequence or function of `service` must be entered here, and decided on. */
import postgres from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { API_ROLE, asApi } from "../../../lib/db/api-role.ts";
import { connect } from "../../../lib/db/connect.ts";
import { grantViews } from "../../../lib/db/grants.ts";
import { migrateService } from "../../../lib/db/migrate.ts";
import { migrateQueue } from "../../../lib/queues/backend.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";

/** Privileges on tables; those in the second list are on the named columns only. */
const tables: Record<string, string[]> = {
  api_key: [
    "SELECT",
    "INSERT (key_hash, label, max_premium_per_day, max_premium_per_purchase, products, scopes, tier, wallet)",
    "UPDATE (last_used_at, revoked_at)",
  ],
  applied_functions: [],
  archived_nonce: [],
  archived_purchase: ["SELECT"],
  attempt: ["SELECT (cancels, hash, id, last_broadcast_at, max_fee, priority_fee, transaction_id, untaken)"],
  budget_lock: [],
  buyer_revert: ["SELECT"],
  compared_wallet: [],
  delegation: [
    "SELECT",
    "INSERT (agent, buyer, chain_id, digest, expires_at, nonce, router, total_premium_cap)",
    "UPDATE (revoked_at)",
  ],
  delivery: ["SELECT", "UPDATE (failures, next_attempt_at, state)"],
  event: ["SELECT"],
  fan_out: [],
  faucet_claim: [
    "DELETE",
    "SELECT",
    "INSERT (awaited_until, chain_id, client, faucet, wallet)",
    "UPDATE (awaited_until, client, told_at)",
  ],
  faucet_day: ["INSERT", "SELECT", "UPDATE (claims)"],
  faucet_slot: ["DELETE", "INSERT", "SELECT", "UPDATE (claim_id, until)"],
  gas_day: ["SELECT"],
  indexer_deployment: ["SELECT"],
  keeper_audit: ["SELECT"],
  keeper_task: [
    "SELECT (chain_id, failure, failures, policy_id, product_id, purpose, retry_at, service_transaction_id)",
  ],
  keeper_watch: ["SELECT"],
  key_premium: ["SELECT", "INSERT (day, key_id, premium, purchase_id)"],
  migration: ["SELECT"],
  onboarding_signature: ["DELETE", "INSERT", "SELECT"],
  oracle_signer: ["SELECT"],
  outbox: ["SELECT"],
  permit: ["SELECT", "INSERT (deadline, purchase_id, signature, value)"],
  price_proof: ["SELECT", "INSERT (asset, chain_id)"],
  purchase: [
    "SELECT",
    "INSERT (asset, buyer, chain_id, coverage_amount, delegation_id, fingerprint, idempotency_key, key_id, product_id, quoted_premium, wallet)",
    "UPDATE (answers_repeats)",
  ],
  purchase_progress: ["SELECT"],
  purchase_trace: ["INSERT (purchase_id, traceparent)"],
  rate_limit: ["DELETE", "INSERT", "SELECT", "UPDATE"],
  receiver_failure: [],
  relayer_wallet: ["SELECT"],
  report: [
    "DELETE",
    "SELECT",
    "INSERT (block_hash, block_number, chain_id, content, kind, record, tx_hash, wallet)",
    "UPDATE (block_hash, block_number, final, record)",
  ],
  sandbox_wallet: ["SELECT"],
  secret: [],
  service_transaction: ["DELETE", "SELECT", "INSERT (chain_id, claim_id, data, purpose, sender, to, value)"],
  service_transaction_progress: ["SELECT"],
  stop: ["SELECT", "INSERT (reason, scope, subject)"],
  transaction: ["SELECT"],
  waiting: ["SELECT", "UPDATE (wake_at)"],
  watched_block: ["SELECT"],
  webhook: [
    "SELECT",
    "INSERT (chain_id, events, from_block, processed_block, processed_event, secret, url, wallet)",
    "UPDATE (position, previous_secret, previous_secret_until, secret, state, undeliverable_at)",
  ],
};

const sequences: Record<string, string[]> = {
  api_key_id_seq: ["USAGE"],
  attempt_id_seq: [],
  delegation_id_seq: ["USAGE"],
  delivery_id_seq: [],
  event_seq_seq: [],
  transaction_id_seq: [],
  webhook_id_seq: ["USAGE"],
};

const functions: Record<string, boolean> = {
  accept_purchases: true,
  add_deliveries: true,
  add_gas: false,
  add_test: true,
  announce: false,
  announce_price_proof: false,
  archive_purchases: false,
  bought_by: true,
  claim_faucet: true,
  delegation_in_force: true,
  existing_purchase: true,
  faucet_limit: true,
  free_claim: false,
  gas_account: false,
  gas_by_day: false,
  gas_of: false,
  has_permit_in_flight: true,
  has_watched_permit: false,
  in_flight: true,
  intents_of: false,
  is_for: true,
  is_outcome_old: true,
  is_partly_signed: false,
  is_withheld: false,
  keep_revocation: false,
  lacked_by: true,
  limited_by: true,
  lock_buyer: true,
  lock_key: true,
  may_know: true,
  mined_up_to: true,
  note_archived_nonces: false,
  note_gas_added: false,
  note_gas_changed: false,
  note_gas_day: false,
  note_outcome: false,
  note_quoted_premium: false,
  note_refused_premium: false,
  paused_until: true,
  premium_of: false,
  premium_of_day: true,
  progress_of: true,
  raise_watermarks: false,
  refuse_unfounded: false,
  stopped_by: true,
  transaction_history: false,
  transactions_from: true,
  transactions_of: false,
  uncompared_wallets: false,
  wait_to_be_signed: false,
  wanted_purchases: true,
};

let databaseUrl: string;
let sql: postgres.Sql;
beforeAll(async () => {
  databaseUrl = await freshDatabase();
  sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
});

async function readTables(): Promise<Record<string, string[]>> {
  const rows = await sql<{ name: string; privileges: string[] }[]>`
    select c.relname as name, array(
      select p from unnest('{DELETE,INSERT,MAINTAIN,REFERENCES,SELECT,TRIGGER,TRUNCATE,UPDATE}'::text[]) p
      where has_table_privilege(${API_ROLE}, c.oid, p)
      union all (
      select format('%s (%s)', p, string_agg(a.attname, ', ' order by a.attname))
      from unnest('{INSERT,REFERENCES,SELECT,UPDATE}'::text[]) p, pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        and has_column_privilege(${API_ROLE}, c.oid, a.attnum, p) and not has_table_privilege(${API_ROLE}, c.oid, p)
      group by p order by p)) as privileges
    from pg_class c where c.relnamespace = 'service'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
    order by c.relname`;
  return Object.fromEntries(rows.map(({ name, privileges }) => [name, privileges]));
}

async function readSequences(): Promise<Record<string, string[]>> {
  const rows = await sql<{ name: string; privileges: string[] }[]>`
    select c.relname as name, array(
      select p from unnest('{SELECT,UPDATE,USAGE}'::text[]) p where has_sequence_privilege(${API_ROLE}, c.oid, p)) as privileges
    from pg_class c where c.relnamespace = 'service'::regnamespace and c.relkind = 'S' order by c.relname`;
  return Object.fromEntries(rows.map(({ name, privileges }) => [name, privileges]));
}

async function readFunctions(): Promise<Record<string, boolean>> {
  const rows = await sql<{ name: string; allowed: boolean }[]>`
    select proname as name, has_function_privilege(${API_ROLE}, oid, 'EXECUTE') as allowed
    from pg_proc where pronamespace = 'service'::regnamespace order by proname`;
  return Object.fromEntries(rows.map(({ name, allowed }) => [name, allowed]));
}

describe("in the schema `service` the api has the listed privileges, and no others", () => {
  test("on tables and their columns", async () => expect(await readTables()).toEqual(tables));
  test("on sequences", async () => expect(await readSequences()).toEqual(sequences));
  test("on functions", async () => expect(await readFunctions()).toEqual(functions));
});

test("the api may create nothing in the database, apart from temporary tables, and belongs to no other role", async () => {
  const schemas =
    await sql`select nspname from pg_namespace where has_schema_privilege(${API_ROLE}, oid, 'CREATE')`;
  expect([...schemas]).toEqual([]);
  const [role] = await sql`
    select has_database_privilege(${API_ROLE}, current_database(), 'CREATE') as creates, rolcanlogin, rolsuper, rolcreaterole,
      rolcreatedb, rolreplication, rolbypassrls, exists (select 1 from pg_auth_members where member = r.oid) as "isMember"
    from pg_roles r where rolname = ${API_ROLE}`;
  expect(Object.values(role ?? { missing: true })).toEqual(Array.from({ length: 8 }, () => false));
});

test("a migration takes back what was granted by hand, and a new table is closed", async () => {
  await sql`grant insert, update (nonce) on service.transaction to ${sql(API_ROLE)}`;
  await sql`create table service.added (id bigserial)`;
  await sql`create function service.added() returns int language sql as 'select 1'`;
  await migrateService(databaseUrl);
  expect(await readTables()).toEqual({ ...tables, added: [] });
  expect(await readSequences()).toEqual({ ...sequences, added_id_seq: [] });
  expect(await readFunctions()).toEqual({ ...functions, added: false });
  await sql`drop function service.added`;
  await sql`drop table service.added`;
});

test("a process of an older version leaves the grants of a newer one in place", async () => {
  await sql`insert into service.migration (number) select max(number) + 1 from service.migration`;
  await sql`grant insert on service.buyer_revert to ${sql(API_ROLE)}`;
  await migrateService(databaseUrl);
  expect(await readTables()).toEqual({ ...tables, buyer_revert: ["INSERT", "SELECT"] });
  await sql`delete from service.migration where number = (select max(number) from service.migration)`;
  await migrateService(databaseUrl);
  expect(await readTables()).toEqual(tables);
});

test("what queue and index create later in their schemas is open to the api at once, to write and to read", async () => {
  await migrateQueue(databaseUrl);
  await grantViews(sql, "indexer");
  await sql`create table bullmq.added (id bigserial)`;
  await sql`create view indexer.added as select id from bullmq.added`;
  const api = connect(asApi(databaseUrl), { name: "test", max: 1 });
  atEnd(api.close);
  await api.sql`insert into bullmq.added default values`;
  expect(await api.sql`select id::int as id from indexer.added`).toEqual([{ id: 1 }]);
  await expect(api.sql`insert into indexer.added default values`).rejects.toMatchObject({ code: "42501" });
});

test("ten processes of three databases migrate at the same time", async () => {
  const urls = [databaseUrl, await freshDatabase({ empty: true }), await freshDatabase({ empty: true })];
  await Promise.all(
    Array.from({ length: 10 }, async (_, n) => {
      const url = urls[n % urls.length] ?? databaseUrl;
      await migrateService(url);
      await migrateQueue(url);
    }),
  );
  expect(await readTables()).toEqual(tables);
});
