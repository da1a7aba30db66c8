/** The plans of queries on an index with the data of years of a busy protocol. */

import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { expect } from "vitest";
import { z } from "zod";
import type { IndexQuery } from "../../../api/indexed/reader.ts";
import { copyTables, fillIndex, million, type Sizes } from "../../../bench/fill-index.ts";
import { readFrom } from "../../../lib/indexed/views-schema.ts";
import * as indexed from "../../../ponder.schema.ts";
import { openRows, servedSchema } from "../../src/support/rows.ts";
import { startChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { startStack } from "../../support/stack.ts";

/** The schema of the large tables. */
export const LARGE = "large";
/** A busy protocol's years. The policies are many enough for each plan, and few enough for a test; `PLAN_ROWS` is their number. */
export const yearsOfRows: Sizes = { ...million, policies: Number(process.env.PLAN_ROWS || 200_000) };
/** The longest page, plus one row that shows whether there is a next page. */
export const PAGE_ROWS = 101;

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

export type LargeIndex = {
  /** The time of the indexed head, Unix seconds. */
  readonly now: bigint;
  readonly sql: postgres.Sql;
  /** Runs a query, explains its statements, and returns the nodes of their plans. */
  readonly run: (query: (db: IndexQuery) => Promise<unknown>) => Promise<Plan[]>;
};

/** Indexes a chain, and fills copies of the tables. */
export async function startLargeIndex(sizes: Sizes): Promise<LargeIndex> {
  const chain = await startChain();
  const stack = await startStack({ chain, services: ["indexer"] });
  const rows = openRows(stack.databaseUrl);
  await rows.caughtUp(chain.client);
  const source = await servedSchema(rows.sql);
  await stack.stopService("indexer");
  await rows.close();
  const { timestamp: now } = await chain.client.getBlock();

  // An hour: postgres.js does not send a 0.
  const connection = { statement_timeout: 3_600_000 };
  const planner = postgres(stack.databaseUrl, { max: 1, connection, onnotice: () => {} });
  atEnd(() => planner.end());
  await copyTables(planner, source ?? "", LARGE);
  await fillIndex(planner, LARGE, sizes, Number(now));
  readFrom(indexed, LARGE);
  /** The statements of one query, as sent. */
  const sent: { text: string; parameters: unknown[] }[] = [];
  const sql = postgres(stack.databaseUrl, {
    max: 1,
    connection,
    onnotice: () => {},
    // Otherwise postgres.js sends its own query for types.
    fetch_types: false,
    debug: (_connection, text, parameters) => sent.push({ text, parameters }),
  });
  atEnd(() => sql.end());

  async function run(query: (db: IndexQuery) => Promise<unknown>): Promise<Plan[]> {
    sent.length = 0;
    await drizzle(sql, { casing: "snake_case" }).transaction(query);
    const statements = sent.filter(({ text }) => /^\s*(select|with)/i.test(text));
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
  return { now, sql: planner, run };
}

/** Tables with few rows for the whole protocol, which Postgres may read sequentially. */
const SMALL = [
  "_ponder_checkpoint",
  "product",
  "product_stats",
  "product_event",
  "product_day",
  "protocol_stats",
  "burn_source_stats",
  "burn_day",
  "burner_day",
  "market_day",
  "market_epoch",
  "vault_week",
  "bond_epoch_sums",
  "vault_balance",
  "head",
  "oracle_feed",
  "oracle_phase",
  "sequencer_state",
  "sequencer_event",
  "pause_event",
  "bond_supply_event",
  "replaced_policy",
];

/** Expects no node to read a table as a whole, or more rows than `mostRows`. */
export function expectIndexed(nodes: readonly Plan[], mostRows: number): void {
  for (const node of nodes) {
    const rows = node["Actual Rows"] * node["Actual Loops"];
    const table = node["Relation Name"];
    if (table && SMALL.includes(table.replace(/^kept_/, ""))) continue;
    expect(node["Node Type"], JSON.stringify(node)).not.toMatch(/Seq Scan|Parallel/);
    expect(rows, JSON.stringify(node)).toBeLessThanOrEqual(mostRows);
    expect(node["Rows Removed by Filter"] ?? 0, JSON.stringify(node)).toBeLessThanOrEqual(mostRows);
  }
}
