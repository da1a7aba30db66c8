/** A backup of schema `service`: what is restored is what was there, and a file or a database that does not fit is refused. */
import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Sql } from "postgres";
import { beforeAll, expect, inject, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { newestMigration } from "../../lib/db/migrate.ts";
import { listStops } from "../../lib/ledger/stops.ts";
import { BackupReader } from "../../scripts/backup/backup-reader.ts";
import { loadBackup, prepareSchema } from "../../scripts/backup/load-backup.ts";
import { serviceTables } from "../../scripts/backup/service-schema.ts";
import { writeBackup } from "../../scripts/backup/write-backup.ts";
import { atEnd } from "../support/cleanup.ts";
import { runCommand } from "../support/command.ts";
import { freshDatabase } from "../support/database.ts";

/** Text in which COPY has to escape something. */
const ODD_TEXT = 'a\tb\nc\r\\d \\. \\N "é🦊"\n\\.\n';

const fileNamed = (name: string) => join(inject("runFolder"), `${name}.backup`);

async function openDatabase({ empty = false } = {}): Promise<{ url: string; sql: Sql }> {
  const url = await freshDatabase({ empty });
  const { sql, close } = connect(url, { name: "test", max: 2, statementTimeout: 0 });
  atEnd(close);
  return { url, sql };
}

const wallet = `0x${"a1".repeat(20)}`;
const word = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;

/** A key, a delegated purchase that waits, one in a transaction, many events with odd text, one that reverts another. */
async function fill(sql: Sql): Promise<void> {
  await sql`insert into service.api_key (key_hash, wallet, label, tier, scopes)
    values ('k1', ${wallet}, ${ODD_TEXT}, 'free', '{read,buy}'), ('k2', ${wallet}, null, 'paid', null)`;
  await sql`insert into service.relayer_wallet (chain_id, address, next_nonce, lease_owner, lease_until)
    values (8453, ${wallet}, 1, 'gone', now() + interval '1 hour')`;
  await sql`insert into service.watched_block (chain_id, number, hash) values (8453, 77, ${word(77)})`;
  await sql`insert into service.delegation (chain_id, router, buyer, agent, total_premium_cap, expires_at, nonce, digest)
    values (8453, ${wallet}, ${`0x${"b0".repeat(20)}`}, ${wallet}, 100, now() + interval '1 day', 1, ${word(3)})`;
  const [purchase] = await sql<{ id: string }[]>`
    insert into service.purchase (chain_id, wallet, key_id, fingerprint, product_id, coverage_amount, asset, buyer, quoted_premium,
      delegation_id, idempotency_key)
    select 8453, ${wallet}, 1, 'f', ${word(1)}, 5, ${word(2)}, d.buyer, 7, d.id, n
    from service.delegation d, unnest(array['waits', 'sent']) n returning id`;
  if (!purchase) throw new Error("no purchase");
  await sql`insert into service.purchase_trace (purchase_id, traceparent)
    values (${purchase.id}, ${`00-${"1".repeat(32)}-${"2".repeat(16)}-01`})`;
  await sql`delete from service.waiting where intent <> ${purchase.id}`;
  await sql`insert into service.transaction (chain_id, wallet, nonce, kind, intent, payer, client, quoted_premium, "to", data,
      gas_limit, gas_reserved)
    select 8453, ${wallet}, 0, 'purchase', p.id, p.buyer, p.wallet, 7, ${wallet}, '0x', 21000, 999
    from service.purchase p where p.id <> ${purchase.id}`;
  await sql`insert into service.event (chain_id, id, key, type, parties, body)
    values (8453, 'e1', 'k1', 'odd', array[${wallet}::text], ${ODD_TEXT})`;
  await sql`insert into service.event (chain_id, id, key, type, parties, body, reverts)
    values (8453, 'e2', 'k2', 'odd', '{}', 'body', 1)`;
  // More than a stream passes on at once.
  await sql`insert into service.event (chain_id, id, key, type, parties, body)
    select 8453, 'many' || n, 'many' || n, 'odd', '{}', repeat(${ODD_TEXT}, 1 + n % 50) from generate_series(1, 3000) n`;
}

/** All rows of all tables as text, without what a restore changes. */
async function contents(sql: Sql): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const { name } of await serviceTables(sql)) {
    if (name === "stop") continue;
    const rows = await sql<{ row: string }[]>`
      select (to_jsonb(t) - 'lease_owner' - 'lease_until')::text as row from ${sql(`service.${name}`)} t order by 1`;
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

let source: Sql;
const file = () => fileNamed("whole");
beforeAll(async () => {
  ({ sql: source } = await openDatabase());
  await fill(source);
  await writeBackup(source, file());
});

async function load(sql: Sql, url: string, from: string): Promise<void> {
  const reader = new BackupReader(from);
  const header = await reader.header();
  await prepareSchema(sql, url, header);
  await loadBackup(sql, reader, header, [
    { chainId: 8453, address: `0x${"c3".repeat(20)}`, nonce: 4 },
    { chainId: 8453, address: `0x${"a1".repeat(20)}`, nonce: 9 },
  ]);
}

test.each([true, false])(
  "a restored database has the same rows, also of an existing empty schema: %s",
  async (empty) => {
    const { url, sql } = await openDatabase({ empty });
    await load(sql, url, file());
    const [restored, original] = [await contents(sql), await contents(source)];
    const added = restored.relayer_wallet?.filter((row) => !original.relayer_wallet?.includes(row));
    expect(added).toEqual([expect.stringContaining('"next_nonce": 4')]);
    expect({ ...restored, relayer_wallet: [] }).toEqual({ ...original, relayer_wallet: [] });
    expect(restored.event?.join()).toContain("🦊");
    expect(restored.purchase_trace).toHaveLength(1);
  },
);

test("a restored service is stopped, holds no lease, and gives out new ids", async () => {
  const { url, sql } = await openDatabase();
  await load(sql, url, file());
  expect(await listStops(sql)).toMatchObject([
    { scope: "global", reason: expect.stringContaining("backup of") },
  ]);
  expect(await sql`select 1 from service.relayer_wallet where lease_until > now()`).toEqual([]);
  const [key] = await sql`
    insert into service.api_key (key_hash, wallet, tier) values ('k3', ${wallet}, 'free') returning id::int`;
  expect(key).toEqual({ id: 3 });
  // The triggers work again.
  const [purchase] = await sql`
    insert into service.purchase (chain_id, wallet, fingerprint, product_id, coverage_amount, asset, buyer)
    values (8453, ${wallet}, 'g', ${word(1)}, 5, ${word(2)}, ${wallet}) returning id`;
  expect(await sql`select 1 from service.waiting where intent = ${String(purchase?.id)}`).toHaveLength(1);
});

/** But for the secret that each new schema has. */
const isEmpty = async (sql: Sql) =>
  Object.entries(await contents(sql)).every(([table, rows]) => table === "secret" || rows.length === 0);

test("a file that is cut off anywhere is refused, and nothing is stored", async () => {
  const { url, sql } = await openDatabase();
  const whole = await readFile(file());
  const cut = fileNamed("cut");
  for (const length of [0, 10, whole.length >> 1, whole.length - 9, whole.length - 1]) {
    await writeFile(cut, whole.subarray(0, length));
    await expect(load(sql, url, cut)).rejects.toThrow(/cut off|to its end/);
  }
  const lines = gunzipSync(whole).toString("utf8").split("\n");
  for (const left of [1, lines.length >> 1, lines.length - 3, lines.length - 2]) {
    await writeFile(
      cut,
      gzipSync(
        lines
          .slice(0, left)
          .map((line) => `${line}\n`)
          .join(""),
      ),
    );
    await expect(load(sql, url, cut)).rejects.toThrow("cut off");
  }
  expect(await isEmpty(sql)).toBe(true);
});

test("a file with other rows than its header says is refused, and nothing is stored", async () => {
  const { url, sql } = await openDatabase();
  const changed = fileNamed("changed");
  const text = gunzipSync(await readFile(file())).toString("utf8");
  const change = async (from: string | RegExp, to: string) => {
    const other = text.replace(from, to);
    expect(other).not.toBe(text);
    await writeFile(changed, gzipSync(other));
    return load(sql, url, changed);
  };
  await expect(change('"name":"api_key","columns"', '"name":"api_kez","columns"')).rejects.toThrow(
    "other tables",
  );
  await expect(change(/^2\tk2\t.*\n/m, "")).rejects.toThrow("api_key has 1 rows, and the header says 2");
  await expect(change(/^2\tk2\t/m, "1\tk2\t")).rejects.toThrow("Postgres refuses the rows of api_key");
  await expect(change(/^2\tk2\t/m, "x\tk2\t")).rejects.toThrow(/rows of api_key|invalid input syntax/);
  await expect(change('{"complete":true}\n', '{"complete":true}\nmore')).rejects.toThrow("goes on after");
  await expect(change('{"format":1', '{"format":2')).rejects.toThrow("header is invalid: format");
  await writeFile(changed, gzipSync("something else\n"));
  await expect(load(sql, url, changed)).rejects.toThrow("no backup");
  await writeFile(changed, "something else\n");
  await expect(load(sql, url, changed)).rejects.toThrow("to its end");
  await expect(load(sql, url, fileNamed("missing"))).rejects.toThrow("ENOENT");
  expect(await isEmpty(sql)).toBe(true);
});

test("a database with rows, and another migration, are refused", async () => {
  const { url, sql } = await openDatabase();
  const changed = fileNamed("migration");
  const text = gunzipSync(await readFile(file())).toString("utf8");
  await writeFile(changed, gzipSync(text.replace(`"migration":${newestMigration()}`, '"migration":7')));
  await expect(load(sql, url, changed)).rejects.toThrow("the backup has migration 7, and this version");
  await sql`insert into service.migration (number) values (${newestMigration() + 1})`;
  await expect(load(sql, url, file())).rejects.toThrow(`and the database ${newestMigration() + 1}`);
  await sql`delete from service.migration where number > ${newestMigration()}`;
  await sql`insert into service.api_key (key_hash, wallet, tier) values ('k', ${wallet}, 'free')`;
  await expect(load(sql, url, file())).rejects.toThrow(
    "schema service is not empty: there are rows in api_key",
  );
});

test("a backup never replaces a file, and a failed one leaves none", async () => {
  const bytes = await readFile(file());
  await expect(writeBackup(source, file())).rejects.toThrow("EEXIST");
  expect(await readFile(file())).toEqual(bytes);
  const { sql } = await openDatabase({ empty: true });
  await expect(writeBackup(sql, fileNamed("failed"))).rejects.toThrow("service");
  await expect(access(fileNamed("failed"))).rejects.toThrow("ENOENT");
});

test("the commands name what is wrong with their arguments and variables", async () => {
  const run = (...args: string[]) => runCommand(["scripts/start.mjs", ...args]);
  expect(await run("backup")).toMatchObject({ code: 1, said: expect.stringContaining("backup -- <file>") });
  expect(await run("restore", "a", "b")).toMatchObject({
    code: 1,
    said: expect.stringContaining("unexpected argument b"),
  });
  const { code, said } = await run("restore", file());
  expect(code).toBe(1);
  for (const name of ["RPC_URL", "DEPLOYMENT_FILE"]) expect(said).toContain(`${name} is required`);
});
