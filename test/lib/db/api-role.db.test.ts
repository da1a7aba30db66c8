/** The api's role: who creates it, and that Postgres refuses it what only the writer may do. */
import postgres from "postgres";
import { getAddress } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { readLedger } from "../../../api/admin/ledger-queries.ts";
import { faucetTerms } from "../../../api/faucet/terms.ts";
import { mintCalldata } from "../../../lib/chain/mock-usdc.ts";
import { API_ROLE, asApi } from "../../../lib/db/api-role.ts";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { migrateService } from "../../../lib/db/migrate.ts";
import { addStop, clearStop, setStop } from "../../../lib/ledger/stops.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";
import { startOwnPostgres } from "../../support/own-postgres.ts";
import { createDatabase, dropDatabase } from "../../support/postgres-databases.ts";

const word = `0x${"1".repeat(64)}`;
const wallet = `0x${"a".repeat(40)}`;
const faucet = `0x${"f".repeat(40)}`;
const token = `0x${"c".repeat(40)}`;
const relayer = `0x${"d".repeat(40)}`;

function open(url: string): Connection {
  const connection = connect(url, { name: "test", max: 1 });
  atEnd(connection.close);
  return connection;
}

describe("Postgres refuses the api", () => {
  let api: Connection;
  beforeAll(async () => {
    api = open(asApi(await freshDatabase()));
  });

  test.each([
    [
      "a transaction",
      `insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit)
       values (1, '${wallet}', 0, 'filler', '${wallet}', '0x', 21000)`,
    ],
    ["a transaction's nonce", "update service.transaction set nonce = 1"],
    [
      "a signed form of a transaction",
      `insert into service.attempt (hash, transaction_id, signed, max_fee, priority_fee, fencing_token)
       values ('${word}', 1, '0x02', 1, 1, 1)`,
    ],
    ["a signed form's bytes", "update service.attempt set signed = '0x02'"],
    ["reading signed forms", "select signed from service.attempt"],
    ["gas that was spent", `insert into service.gas_day values (1, now(), '${wallet}', 1)`],
    ["a gas budget's state", "update service.gas_day set wei = 0"],
    ["the outbox's position", "update service.outbox set processed_block = 0"],
    ["another outbox", "insert into service.outbox values (1, 0, 0, 0)"],
    ["the ledger's position", "update service.watched_block set number = 0"],
    ["a wallet's nonce", "update service.relayer_wallet set next_nonce = 0"],
    ["a wallet's lease", "update service.relayer_wallet set lease_owner = 'api'"],
    ["the end of a stop", "delete from service.stop"],
    ["the end of all stops", "truncate service.stop"],
    ["the reason of a stop", "update service.stop set reason = 'x'"],
    ["the target of a stop", "update service.stop set scope = 'key', subject = '1'"],
    [
      "a stop in place of another",
      `insert into service.stop (scope, subject, reason) values ('global', '', 'x')
       on conflict (scope, subject) do update set reason = excluded.reason`,
    ],
    ["the time of a stop", "insert into service.stop values ('global', '', 'x', now() - interval '1 day')"],
    [
      "how a stop was set",
      "insert into service.stop (scope, subject, reason, set_by) values ('global', '', 'x', 'command line')",
    ],
    ["a wallet's budget", "update service.relayer_wallet set gas_budget = 0"],
    ["a key's limits", "update service.api_key set max_premium_per_day = null"],
    ["what counts against a key's limit", "delete from service.key_premium"],
    ["a premium that counts against a key's limit", "update service.key_premium set premium = 0"],
    ["the keeper's failures", "update service.keeper_task set failures = 0"],
    ["the keeper's absences", "delete from service.keeper_watch"],
    ["what the keeper missed", "update service.keeper_audit set missed = 0"],
    ["a transaction's block", "update service.transaction set block_number = 1"],
    ["a transaction's loss", `update service.transaction set lost_to = '${word}'`],
    ["a transaction's call", "update service.transaction set data = '0x'"],
    ["a purchase's refusal", "update service.purchase set refused_at = now()"],
    ["a purchase's failure", "update service.purchase set failure_code = 'x', failure_message = 'x'"],
    ["a purchase's buyer", `update service.purchase set buyer = '${wallet}'`],
    ["a purchase's trace", "update service.purchase_trace set traceparent = ''"],
    ["an event's trace", "update service.event set traceparent = ''"],
    [
      "a purchase that is refused already",
      `insert into service.purchase (chain_id, wallet, fingerprint, product_id, coverage_amount, asset, buyer, refused_at)
       values (1, '${wallet}', '', '${word}', 1, '${word}', '${wallet}', now())`,
    ],
    [
      "signing something again",
      `insert into service.waiting select id, 'purchase', 1, '', 1, id, now(), now() from service.purchase`,
    ],
    ["that something is never signed", "delete from service.waiting"],
    ["when something began to wait", "update service.waiting set created_at = now()"],
    ["a revert of a buyer", `insert into service.buyer_revert values (1, '${wallet}')`],
    ["the end of a pause", "delete from service.buyer_revert"],
    ["a purchase's deletion", "delete from service.purchase"],
    ["a delegation's spending", "update service.delegation set premium_spent = 0"],
    ["a delegation's cap", "update service.delegation set total_premium_cap = 1"],
    ["a service transaction's refusal", "update service.service_transaction set refused_at = now()"],
    ["a service transaction's call", "update service.service_transaction set data = '0x'"],
    ["giving a claim's slots back", "select service.free_claim(gen_random_uuid(), '', '')"],
    [
      "an event of a block",
      `insert into service.event (id, chain_id, key, type, parties, body, block_number)
       values ('x', 1, 'x', 'token_burned', '{}', '{}', 1)`,
    ],
    [
      "an event without a block, which a writer would sign",
      `insert into service.event (id, chain_id, key, type, parties, body) values ('x', 1, 'x', 'webhook_test', '{}', '{}')`,
    ],
    ["a delivery", "insert into service.delivery (webhook_id, event_seq) values (1, 1)"],
    ["an event's body", "update service.event set body = '{}'"],
    ["an attempt at a delivery", "update service.delivery set attempts = '[]'"],
    ["a subscription's lease", "update service.webhook set lease_token = null"],
    ["a price to sign", "insert into service.price_proof (chain_id, asset, price) values (1, 'BTC', 1)"],
    ["a signed price", "update service.price_proof set state = 'signed', signature = '0x'"],
    ["another asset for a request", "update service.price_proof set asset = 'ETH'"],
    ["a request's deletion", "delete from service.price_proof"],
    ["an oracle's signer", `insert into service.oracle_signer values (1, '${wallet}')`],
    ["the tier of a key", "update service.api_key set tier = 'paid'"],
    ["a migration", "insert into service.migration (number) values (99)"],
    ["a table in the service's schema", "create table service.thing (id int)"],
    ["a schema", "create schema thing"],
    ["a column", "alter table service.purchase add thing int"],
    ["an index", "create index on service.purchase (buyer)"],
    ["a trigger's removal", "drop trigger purchase_waits on service.purchase"],
    ["emptying a table", "truncate service.rate_limit"],
    ["another role", "create role thing"],
  ])("%s", async (_, statement) => {
    await expect(api.sql.unsafe(statement)).rejects.toMatchObject({ code: "42501" });
  });
});

test("the api sets a stop by the same call as the operator's, once, and the ledger's report is readable to it", async () => {
  const { sql } = open(asApi(await freshDatabase()));
  expect(await addStop(sql, { scope: "global" }, "first")).toMatchObject({
    isNew: true,
    stop: { scope: "global", reason: "first", setBy: "api" },
  });
  const again = await Promise.all(
    ["second", "third"].map((reason) => addStop(sql, { scope: "global" }, reason)),
  );
  for (const { isNew, stop } of again) expect([isNew, stop.reason]).toEqual([false, "first"]);
  await expect(setStop(sql, { scope: "global" }, "other")).rejects.toMatchObject({ code: "42501" });
  await expect(clearStop(sql, { scope: "global" })).rejects.toMatchObject({ code: "42501" });
  expect(await readLedger(sql, { minAge: 0, limit: 1 })).toMatchObject({ flights: [], keeper: null });
});

test("of service transactions the api inserts a claim's two transfers from the faucet's wallet, and no other call", async () => {
  const database = await freshDatabase();
  const owner = open(database);
  await owner.sql`
    insert into service.relayer_wallet (chain_id, address, role)
    values (1, ${faucet}, 'faucet'), (1, ${relayer}, 'relayer'), (2, ${faucet}, 'keeper')`;
  const { sql } = open(asApi(database));
  const claimOf = async (sender: string, chainId = 1) => {
    const [claim] = await sql<{ id: string }[]>`
      insert into service.faucet_claim (chain_id, faucet, wallet, client, awaited_until)
      values (${chainId}, ${sender}, ${wallet}, '', now()) returning id`;
    return claim?.id ?? "";
  };
  const row = { chain_id: 1, sender: faucet, to: wallet, data: "0x", claim_id: await claimOf(faucet) };
  const ether = { ...row, purpose: "faucet_ether", value: String(faucetTerms.wei) };
  const data = mintCalldata(getAddress(wallet), 1n);
  const usdc = { ...row, purpose: "faucet_usdc", to: token, data, value: "0" };
  const insert = (one: typeof ether) => sql`insert into service.service_transaction ${sql(one)}`;
  for (const refused of [
    { ...ether, value: String(faucetTerms.wei + 1n) },
    { ...ether, to: token },
    { ...ether, data: "0x01" },
    { ...ether, sender: token },
    { ...ether, chain_id: 2 },
    { ...usdc, value: "1" },
    { ...usdc, data: "0x01" },
    { ...usdc, data: mintCalldata(getAddress(relayer), 1n) },
    { ...usdc, data: data.slice(0, -64) },
    { ...usdc, data: `${data}00` },
    { ...ether, sender: relayer, claim_id: await claimOf(relayer) },
    { ...usdc, sender: relayer, claim_id: await claimOf(relayer) },
    { ...ether, chain_id: 2, claim_id: await claimOf(faucet, 2) },
    { ...ether, chain_id: 3, claim_id: await claimOf(faucet, 3) },
  ]) {
    await expect(insert(refused), JSON.stringify(refused)).rejects.toMatchObject({ code: "42501" });
  }
  const sandbox = { ...row, purpose: "sandbox_ether", value: "1", claim_id: null };
  await expect(sql`insert into service.service_transaction ${sql(sandbox)}`).rejects.toMatchObject({
    code: "42501",
  });
  await insert(ether);
  await insert(usdc);
  expect(await sql`select purpose from service.service_transaction_progress order by purpose`).toEqual([
    { purpose: "faucet_ether" },
    { purpose: "faucet_usdc" },
  ]);
});

/** Keys 1 (of the wallet), 2 (revoked) and 3 (of the agent); delegations of the wallet to the agent: in force, revoked, expired. */
async function withKeysAndDelegations() {
  const database = await freshDatabase();
  const owner = open(database);
  const agent = `0x${"b".repeat(40)}`;
  await owner.sql`
    insert into service.api_key (key_hash, wallet, tier, revoked_at)
    values ('1', ${wallet}, 'free', null), ('2', ${wallet}, 'free', now()), ('3', ${agent}, 'free', null)`;
  await owner.sql`
    insert into service.delegation (chain_id, router, buyer, agent, total_premium_cap, expires_at, nonce, digest, revoked_at)
    select 1, ${wallet}, ${wallet}, ${agent}, 10, expires_at, 0, '0x' || repeat(n, 64), revoked_at from (values
      ('1', now() + interval '1 hour', null), ('2', now() + interval '1 hour', now()), ('3', now(), null)
    ) d (n, expires_at, revoked_at)`;
  await owner.sql`
    insert into service.sandbox_wallet (chain_id, wallet, usdc, allowance, ether, can_buy) values (2, ${faucet}, 1, 1, 1, true)`;
  const { sql } = open(asApi(database));
  const purchase = { chain_id: 1, fingerprint: "", product_id: word, coverage_amount: 1, asset: word };
  /** Inserts a purchase with the rights of the api; its own buyer and key of the agent by default. */
  const insert = (more: object) =>
    sql`insert into service.purchase ${sql({ ...purchase, wallet: agent, buyer: agent, key_id: 3, ...more })}`;
  return { owner, sql, agent, insert };
}

test("the api inserts a purchase with an active key of its wallet, for its own buyer or under a delegation in force, and no other", async () => {
  const { insert, sql } = await withKeysAndDelegations();
  for (const refused of [
    { key_id: null },
    { key_id: 1 },
    { wallet, buyer: wallet, key_id: 2 },
    { wallet, buyer: wallet, key_id: null },
    { wallet: faucet, buyer: faucet, key_id: null },
    { chain_id: 2, wallet: faucet, buyer: wallet, key_id: null },
    { buyer: wallet },
    { buyer: wallet, delegation_id: 2 },
    { buyer: wallet, delegation_id: 3 },
    { buyer: wallet, delegation_id: 1, chain_id: 2 },
    { buyer: faucet, delegation_id: 1 },
    { delegation_id: 1 },
  ]) {
    await expect(insert(refused), JSON.stringify(refused)).rejects.toMatchObject({
      code: "42501",
      message: expect.stringMatching(/lacks a (key|delegation)/),
    });
  }
  await insert({});
  await insert({ buyer: wallet, delegation_id: 1, fingerprint: "1", quoted_premium: 7 });
  await insert({ chain_id: 2, wallet: faucet, buyer: faucet, key_id: null });
  // It counts against its delegation, which the api cannot change itself.
  expect(await sql`select premium_spent from service.delegation order by id`).toEqual([
    { premium_spent: "7" },
    { premium_spent: "0" },
    { premium_spent: "0" },
  ]);
});

test("nobody takes a revocation back or changes its time, in any table that has one", async () => {
  const { owner, sql } = await withKeysAndDelegations();
  const tables = await owner.sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = 'service' and column_name = 'revoked_at' order by 1`;
  expect(tables.map(({ name }) => name)).toEqual(["api_key", "delegation"]);
  for (const { name } of tables) {
    for (const login of [sql, owner.sql]) {
      for (const time of [null, new Date()]) {
        await expect(
          login`update service.${login(name)} set revoked_at = ${time} where id = 2`,
        ).rejects.toMatchObject({ code: "42501", message: expect.stringMatching(/is for good/) });
      }
      // Revoking again, and revoking another one, are no changes of a revocation.
      await login`update service.${login(name)} set revoked_at = coalesce(revoked_at, now()) where id in (1, 2)`;
    }
  }
});

test("the api adds to a webhook the events that it covers, and none of another wallet or of its own making", async () => {
  const database = await freshDatabase();
  const owner = open(database);
  await owner.sql`
    insert into service.webhook (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event)
    values (1, ${wallet}, '', '{*}', 's', 0, -1, 0)`;
  await owner.sql`
    insert into service.event (id, chain_id, key, type, block_number, parties, body)
    select n, 1, n, 'bond_minted', block, array[party], '{}' from (values
      ('own', 1, ${wallet}), ('stranger''s', 1, ${relayer}), ('without a block', null, ${wallet})) e (n, block, party)`;
  const { sql } = open(asApi(database));
  expect(await sql`select service.add_deliveries(1, array(select seq from service.event)) as added`).toEqual([
    { added: 1 },
  ]);
  expect(
    await sql`select e.id, d.test from service.delivery d join service.event e on e.seq = d.event_seq`,
  ).toEqual([{ id: "own", test: false }]);
  expect(
    await sql`select service.add_test(1, ${relayer}, 1, 'webhook_test') as theirs, service.add_test(2, ${wallet}, 1, 'webhook_test') as other`,
  ).toEqual([{ theirs: null, other: null }]);
  await expect(sql`select service.add_test(1, ${wallet}, 1, 'bond_minted')`).rejects.toThrow(/is no/);
});

describe("on a server without the role", () => {
  let server: string;
  let admin: postgres.Sql;

  /** A new login that is no superuser, with a database of its own. @returns the database's URL with that login. */
  async function ownerOf(database: string, privilege: "createrole" | "nocreaterole"): Promise<string> {
    const url = new URL(await createDatabase(server, database));
    await admin`create role ${admin(database)} login ${admin.unsafe(privilege)}`;
    await admin`alter database ${admin(database)} owner to ${admin(database)}`;
    url.username = database;
    return url.href;
  }

  beforeAll(async () => {
    server = (await startOwnPostgres("first")).databaseUrl;
    admin = postgres(server, { max: 1, onnotice: () => {} });
    atEnd(() => admin.end());
  });

  test("without the privilege to create roles a migration names the statement to run, and succeeds after it", async () => {
    const url = await ownerOf("modest", "nocreaterole");
    await expect(migrateService(url)).rejects.toThrow(/superuser: create role cover_api nologin$/);
    await admin`create role ${admin(API_ROLE)} nologin`;
    await migrateService(url);
    await dropDatabase(server, "modest");
    await admin`drop role ${admin(API_ROLE)}`;
  });

  test("several databases are migrated at once by a login without superuser, which may take on the role", async () => {
    const url = await ownerOf("maker", "createrole");
    const urls = [url];
    for (const name of ["second", "third"]) {
      await createDatabase(server, name);
      await admin`alter database ${admin(name)} owner to maker`;
      urls.push(url.replace(/maker$/, name));
    }
    await Promise.all(urls.map(migrateService));
    for (const one of urls) {
      const { sql } = open(asApi(one));
      expect(
        await sql`select current_user as role from service.stop right join (select 1) as one on true`,
      ).toEqual([{ role: API_ROLE }]);
      await expect(sql`delete from service.stop`).rejects.toMatchObject({ code: "42501" });
    }
  });
});
