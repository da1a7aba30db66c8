/**
 * Every indexed query that a route runs is read from an index, also where years of a busy protocol stand in the tables:
 * the plans are read on a million policies, two million activities and a hundred thousand burns.
 */
import { setDatabaseSchema } from "@ponder/client";
import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { prepareHoldings } from "../../api/bonds/queries.ts";
import { readBurns, readPricePoints } from "../../api/burns/queries.ts";
import type { IndexQuery } from "../../api/index/reader.ts";
import { readActiveListings, readSales } from "../../api/marketplace/queries.ts";
import { findPolicy, preparePoliciesOf } from "../../api/policies/queries.ts";
import { readActivity } from "../../api/stats/activity.ts";
import {
  countOpenPolicies,
  readBurnDays,
  readBurnSources,
  readProtocolSums,
} from "../../api/stats/queries.ts";
import { readTriggers } from "../../api/triggers/queries.ts";
import { copyTables, fillIndex, million, walletOf } from "../../bench/large-index.ts";
import { productIdOf } from "../../lib/products.ts";
import * as indexed from "../../ponder.schema.ts";
import { openRows } from "../src/support/rows.ts";
import { startChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { startStack } from "../support/stack.ts";

const SCRATCH = "large";
/** The longest page, and the one row by which the next page is known. */
const PAGE = 101;
/** Minutes of the longest cover, which the count of open policies may sum. */
const CLOCK = 72 * 60;

let sql: postgres.Sql;
let planner: postgres.Sql;
let now: bigint;
/** The statements of one query as they were sent. */
const sent: { text: string; parameters: unknown[] }[] = [];

beforeAll(async () => {
  const chain = await startChain();
  const stack = await startStack({ chain, services: ["indexer"] });
  const rows = openRows(stack.databaseUrl);
  await rows.caughtUp(chain.client);
  const [source] = await rows.sql<{ name: string }[]>`
    select distinct table_schema as name from information_schema.view_table_usage
    where view_schema = 'indexer' and table_schema <> 'indexer'`;
  await stack.stopService("indexer");
  await rows.close();
  now = (await chain.client.getBlock()).timestamp;

  planner = postgres(stack.databaseUrl, { max: 1, onnotice: () => {} });
  atEnd(() => planner.end());
  await copyTables(planner, source?.name ?? "", SCRATCH);
  await fillIndex(planner, SCRATCH, million, Number(now));
  setDatabaseSchema(indexed, SCRATCH);
  sql = postgres(stack.databaseUrl, {
    max: 1,
    onnotice: () => {},
    // postgres.js asks for types once, which is none of ours.
    fetch_types: false,
    debug: (_connection, text, parameters) => sent.push({ text, parameters }),
  });
  atEnd(() => sql.end());
});

type Plan = {
  "Node Type": string;
  "Relation Name"?: string | undefined;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number | undefined;
  Plans?: Plan[] | undefined;
};
const plan: z.ZodType<Plan> = z.lazy(() =>
  z.object({
    "Node Type": z.string(),
    "Relation Name": z.string().optional(),
    "Actual Rows": z.number(),
    "Actual Loops": z.number(),
    "Rows Removed by Filter": z.number().optional(),
    Plans: z.array(plan).optional(),
  }),
);
const explained = z.array(z.object({ "QUERY PLAN": z.array(z.object({ Plan: plan })) })).length(1);

const nodesOf = (node: Plan): Plan[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** The nodes of the plans by which the query's statements were executed. */
async function run(query: (db: IndexQuery) => Promise<unknown>): Promise<Plan[]> {
  sent.length = 0;
  await drizzle(sql, { casing: "snake_case" }).transaction(query);
  const statements = sent.filter(({ text }) => /^\s*select/i.test(text));
  expect(statements).not.toEqual([]);
  const nodes: Plan[] = [];
  for (const { text, parameters } of statements) {
    const literals = text.replace(/\$(\d+)/g, (_, n) => `'${String(parameters[Number(n) - 1])}'`);
    const [row] = explained.parse(await planner.unsafe(`explain (analyze, format json) ${literals}`));
    const root = row?.["QUERY PLAN"][0]?.Plan;
    if (root) nodes.push(...nodesOf(root));
  }
  return nodes;
}

/** Tables with a row or a handful for the whole protocol, which are read as they are. */
const SMALL = [
  "_ponder_checkpoint",
  "product",
  "protocol_stats",
  "burn_source_stats",
  "burn_day",
  "bond_epoch",
  "head",
];

function expectIndexed(nodes: readonly Plan[], mostRows: number): void {
  for (const node of nodes) {
    const rows = node["Actual Rows"] * node["Actual Loops"];
    const table = node["Relation Name"];
    if (table && SMALL.includes(table)) continue;
    expect(node["Node Type"], JSON.stringify(node)).not.toMatch(/Seq Scan|Parallel/);
    expect(rows, JSON.stringify(node)).toBeLessThanOrEqual(mostRows);
    expect(node["Rows Removed by Filter"] ?? 0, JSON.stringify(node)).toBeLessThanOrEqual(mostRows);
  }
}

const wallet = walletOf(77, million.wallets);
const first = { limit: 100, offset: 0 };
/** In the middle of every feed, where a walk from its begin would pass over half of it. */
const deep = { ...first, cursor: { blockNumber: 50_000n, logIndex: 100 } };
const policyKey = { productId: productIdOf("FLASHBTC1H-001"), policyId: 1_000_500n };
const type = "token_burned";
const longAgo = 1_000_000_000n;

test.each<[string, (db: IndexQuery) => Promise<unknown>]>([
  ["one policy", (db) => findPolicy(db, policyKey)],
  ["a buyer's policies", (db) => preparePoliciesOf(db)({ buyer: wallet, ...first })],
  ["a buyer's policies behind a cursor", (db) => preparePoliciesOf(db)({ buyer: wallet, ...deep })],
  ["the feed", (db) => readActivity(db, first)],
  ["the feed behind a cursor", (db) => readActivity(db, deep)],
  ["the feed of a type", (db) => readActivity(db, { ...first, type })],
  ["the feed of a type behind a cursor", (db) => readActivity(db, { ...deep, type })],
  ["the feed of an actor", (db) => readActivity(db, { ...first, actor: wallet })],
  ["the feed of an actor behind a cursor", (db) => readActivity(db, { ...deep, actor: wallet })],
  ["the feed of an actor and a type", (db) => readActivity(db, { ...first, actor: wallet, type })],
  ["the feed since yesterday", (db) => readActivity(db, { ...first, since: now - 86_400n })],
  ["the feed since ever", (db) => readActivity(db, { ...first, since: longAgo })],
  ["the feed since the future", (db) => readActivity(db, { ...first, since: now + 86_400n })],
  ["the feed of all at once", (db) => readActivity(db, { ...deep, actor: wallet, type, since: longAgo })],
  ["burns", (db) => readBurns(db, first)],
  ["burns behind a cursor", (db) => readBurns(db, deep)],
  ["burns of a source", (db) => readBurns(db, { ...first, source: "direct" })],
  ["burns of a source behind a cursor", (db) => readBurns(db, { ...deep, source: "direct" })],
  ["prices of a day", (db) => readPricePoints(db, 86_400n, first)],
  ["all prices", (db) => readPricePoints(db, null, first)],
  ["all prices behind a cursor", (db) => readPricePoints(db, null, deep)],
  ["an owner's bonds", (db) => prepareHoldings(db)(wallet)],
  ["active listings", (db) => readActiveListings(db, first)],
  ["active listings behind a cursor", (db) => readActiveListings(db, { ...first, cursor: 1_010_000n })],
  ["sales", (db) => readSales(db, first)],
  ["sales behind a cursor", (db) => readSales(db, deep)],
  ["triggers", (db) => readTriggers(db, first)],
  ["triggers behind a cursor", (db) => readTriggers(db, deep)],
  ["the protocol's sums", (db) => readProtocolSums(db)],
  ["burns by source", (db) => readBurnSources(db)],
  ["burns by day", (db) => readBurnDays(db)],
])("%s: read from an index, a page at most", async (_name, query) => {
  expectIndexed(await run(query), PAGE);
});

test("open policies are counted by the clock: a row for each minute of the longest cover at most", async () => {
  expectIndexed(await run((db) => countOpenPolicies(db, now)), CLOCK);
});
