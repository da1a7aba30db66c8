import postgres from "postgres";
import { expect, test } from "vitest";
import { dropOwnSchemas } from "../../../scripts/dev/drop-schemas.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";

async function openDatabase() {
  const url = await freshDatabase({ empty: true });
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
  const schemas = async () =>
    (await sql<{ name: string }[]>`select nspname as name from pg_namespace where nspname !~ '^pg_'`)
      .map(({ name }) => name)
      .filter((name) => !["public", "information_schema"].includes(name))
      .sort();
  return { url, sql, schemas };
}

test("a second start drops the schemas of the first one and no others", async () => {
  const { url, sql, schemas } = await openDatabase();
  await dropOwnSchemas(url);
  for (const name of [
    "service",
    "ponder_sync",
    "indexer",
    "bullmq",
    "idx_0123456789ab",
    "shop",
    "idx_notes",
  ]) {
    await sql`create schema ${sql(name)}`;
    await sql`create table ${sql(name)}.row (id int)`;
  }
  await dropOwnSchemas(url);
  expect(await schemas()).toEqual(["cover_dev", "idx_notes", "shop"]);
});

test("a database with such a schema that no dev stack made is rejected and stays unchanged", async () => {
  const { url, sql, schemas } = await openDatabase();
  await sql`create schema service`;
  await sql`create schema ponder_sync`;
  await expect(dropOwnSchemas(url)).rejects.toThrow(
    /ponder_sync.*no dev stack made|service.*no dev stack made/,
  );
  expect(await schemas()).toEqual(["ponder_sync", "service"]);
});
