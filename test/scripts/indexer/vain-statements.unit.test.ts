import { expect, test } from "vitest";
import { afterStatement, isInVain } from "../../../scripts/indexer/vain-statements.ts";

const checkpointOf = (table: string) =>
  `update "idx_1"."_reorg__${table}" set "checkpoint" = $1 where "idx_1"."_reorg__${table}"."checkpoint" = $2`;
const after = (...statements: (string | undefined)[]) =>
  ["begin", ...statements].reduce(
    (written: ReturnType<typeof afterStatement>, text) => afterStatement(text, written),
    undefined,
  );

test("the update for a table to which the transaction has not written is in vain", () => {
  const written = after(
    'insert into "idx_1"."policy_price" ("a") values ($1)',
    'select * from "idx_1"."policy"',
  );
  expect(isInVain(checkpointOf("policy"), written)).toBe(true);
  expect(isInVain(checkpointOf("policy_price"), written)).toBe(false);
});

test.each([
  'insert into "idx_1"."policy" ("a") values ($1)',
  'insert into "idx_1"."policy" ("a") values ($1) on conflict ("a") do update set "a" = excluded."a"',
  '\n   UPDATE "idx_1"."policy" as target\n SET "a" = source."a" FROM "policy" source WHERE true;',
  'delete from "idx_1"."policy" where "a" = $1 returning "a"',
  'COPY "idx_1"."policy" FROM STDIN',
])("the update for a table that was written is not: %s", (statement) => {
  expect(isInVain(checkpointOf("policy"), after(statement, "SAVEPOINT flush", "RELEASE flush"))).toBe(false);
});

test.each([
  ['with x as (delete from "idx_1"."policy" returning *) select 1'],
  ['select 1; insert into "idx_1"."policy" ("a") values (1)'],
  ["call something()"],
  [undefined],
])("after a statement that may write anywhere, none is in vain: %s", (statement) => {
  const written = after(statement, 'insert into "idx_1"."head" ("a") values ($1)');
  expect(isInVain(checkpointOf("policy"), written)).toBe(false);
});

test("outside a transaction that was seen to begin, none is in vain", () => {
  expect(isInVain(checkpointOf("policy"), undefined)).toBe(false);
});

test.each([
  "CREATE TEMP TABLE live_query_tables (table_name TEXT PRIMARY KEY) ON COMMIT DROP",
  '\nCREATE OR REPLACE TRIGGER "live_query"\nAFTER INSERT OR UPDATE OR DELETE ON "idx_1"."policy"',
  '\nCREATE OR REPLACE TRIGGER "live_query_notify"\nAFTER INSERT OR UPDATE OR DELETE ON "idx_1"."_ponder_checkpoint"',
  '\nCREATE OR REPLACE TRIGGER "indexer_live_query_notify"\nAFTER INSERT OR UPDATE OR DELETE\nON "idx_1"."_ponder_checkpoint"',
])("what a live query needs is in vain: %s", (statement) => {
  expect(isInVain(statement, after())).toBe(true);
  expect(isInVain(statement, undefined)).toBe(true);
});

test("what a bulk update needs writes to no table of the index", () => {
  const written = after(
    '\n  CREATE TEMP TABLE IF NOT EXISTS "policy"\n  AS SELECT * FROM "idx_1"."policy"\n  WITH NO DATA;',
    'COPY "policy" FROM STDIN',
    'TRUNCATE TABLE "policy"',
  );
  expect(isInVain(checkpointOf("policy"), written)).toBe(true);
});

test("any other statement is sent", () => {
  expect(isInVain('update "idx_1"."_ponder_checkpoint" set "latest_checkpoint" = $1', after())).toBe(false);
  expect(isInVain("commit", after())).toBe(false);
  expect(isInVain('CREATE OR REPLACE TRIGGER "reorg" AFTER INSERT ON "idx_1"."policy"', after())).toBe(false);
});
