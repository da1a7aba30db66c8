/** Every indexed query that a route runs is served by an index: the plans are read, on real tables of the indexer. */
import { setDatabaseSchema } from "@ponder/client";
import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { beforeAll, expect, test } from "vitest";
import { readActivity } from "../../api/queries/activity.ts";
import type { IndexQuery } from "../../api/queries/index-reader.ts";
import { findPoliciesOf, findPolicy } from "../../api/queries/policies.ts";
import { productIdOf } from "../../lib/products.ts";
import * as indexed from "../../ponder.schema.ts";
import { startChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { startStack } from "../support/stack.ts";

let sql: postgres.Sql;
let planner: postgres.Sql;
/** The statements of one query as they were sent. */
const sent: { text: string; parameters: unknown[] }[] = [];

beforeAll(async () => {
  const stack = await startStack({ chain: await startChain(), services: ["indexer"] });
  setDatabaseSchema(indexed, "indexer");
  sql = postgres(stack.databaseUrl, {
    max: 1,
    onnotice: () => {},
    // postgres.js asks for types once, which is none of ours.
    fetch_types: false,
    debug: (_connection, text, parameters) => sent.push({ text, parameters }),
  });
  planner = postgres(stack.databaseUrl, { max: 1, onnotice: () => {} });
  atEnd(async () => {
    await sql.end();
    await planner.end();
  });
  // On tables this small the planner reads them whole; it must show which index it has for when they are large.
  await planner`set enable_seqscan = off`;
});

async function plansOf(run: (db: IndexQuery) => Promise<unknown>): Promise<string[]> {
  const db = drizzle(sql, { casing: "snake_case" });
  sent.length = 0;
  await db.transaction(run);
  const queries = sent.filter(({ text }) => /^select/i.test(text));
  return Promise.all(
    queries.map(async ({ text, parameters }) => {
      const literals = text.replace(/\$(\d+)/g, (_, n) => `'${String(parameters[Number(n) - 1])}'`);
      const rows = await planner.unsafe(`explain ${literals}`);
      return rows.map((row) => String(Object.values(row)[0])).join("\n");
    }),
  );
}

const address = `0x${"1".repeat(40)}` as const;

test("one policy is found by its key", async () => {
  const key = { productId: productIdOf("FLASHBTC1H-001"), policyId: 1n };
  const [plan, ...others] = await plansOf((db) => findPolicy(db, key));
  expect(others).toEqual([]);
  expect(plan).toMatch(/Index Scan using policy_product_id_policy_id_pk/);
});

test("a buyer's policies are read from the index in their order: no sort, no filter", async () => {
  const [list, total, ...others] = await plansOf((db) =>
    findPoliciesOf(db, address, { limit: 50, offset: 0 }),
  );
  expect(others).toEqual([]);
  expect(list).toMatch(/Index Scan Backward using policy_buyer_\S+/);
  expect(list).not.toMatch(/Sort|Filter/);
  expect(total).toMatch(/Index Scan using account_pkey/);
});

test("the feed is the primary key read backwards", async () => {
  const [plan] = await plansOf((db) => readActivity(db, { limit: 99, offset: 0 }));
  expect(plan).toMatch(/Index Scan Backward using activity_block_number_log_index_pk/);
  expect(plan).not.toMatch(/Sort/);
});
