/** The queries of triggers, with ten thousand policies that are due at once; these stay, so other queries come first. */
import { expect, test } from "vitest";
import type { IndexQuery } from "../../../api/indexed/reader.ts";
import { readDuePage } from "../../../api/triggers/due-queries.ts";
import { readEvaluation } from "../../../api/triggers/evaluation-queries.ts";
import { productIdOf } from "../../../lib/products.ts";
import { expectIndexed, LARGE, type LargeIndex, PAGE_ROWS, yearsOfRows } from "./query-plans.ts";

const first = { limit: 100, offset: 0 };
const productId = productIdOf("FLASHBTC1H-001");
/** The policy in the middle of two years. Each twentieth policy was triggered, and this one. */
const triggeredKey = { productId, policyId: 1_000_000n + BigInt(yearsOfRows.policies) / 2n };
const policyKey = { productId, policyId: triggeredKey.policyId + 1n };

export function triggerPlans(large: () => LargeIndex): void {
  const run: LargeIndex["run"] = (query) => large().run(query);
  /** A place in the rounds of both policies. */
  const cursor = () => ({ updatedAt: large().now - 365n * 86_400n + 1_800n, roundId: 2n ** 64n });

  test.each<[string, (db: IndexQuery) => ReturnType<typeof readEvaluation>]>([
    ["of a policy", (db) => readEvaluation(db, { ...policyKey, limit: 100 })],
    ["of a triggered policy", (db) => readEvaluation(db, { ...triggeredKey, limit: 100 })],
    ["after a cursor", (db) => readEvaluation(db, { ...policyKey, limit: 100, cursor: cursor() })],
  ])("an evaluation %s: the query uses an index and reads at most one page", async (_name, query) => {
    const nodes = await run(async (db) => {
      expect((await query(db))?.rounds.length).toBeGreaterThan(0);
    });
    expectIndexed(nodes, PAGE_ROWS);
  });

  test("an evaluation of a long cover: the query reads a page of rounds", async () => {
    const { sql } = large();
    const { policyId } = policyKey;
    await sql`
    update ${sql(LARGE)}.policy set expires_at = created_at + 6000000, trigger_price = 1
    where product_id = ${productId} and policy_id = ${String(policyId)}`;
    const nodes = await run(async (db) => {
      expect((await readEvaluation(db, { ...policyKey, limit: 100 }))?.rounds.length).toBe(PAGE_ROWS);
    });
    // The order of rounds with the same time needs one row more.
    expectIndexed(nodes, PAGE_ROWS + 1);
  });

  test("of ten thousand due policies the query reads the open ones by their expiry, once each", async () => {
    const { sql, now } = large();
    const DUE = 10_000;
    await sql`
    insert into ${sql(LARGE)}.policy
    select (jsonb_populate_record(p, jsonb_build_object('policy_id', 9000000 + i, 'block_number', 9000000 + i,
      'created_at', ${String(now)}::numeric - 1700, 'expires_at', ${String(now)}::numeric + 600 + i / 10,
      'triggered_at', null, 'observations', 0))).*
    from ${sql(LARGE)}.policy p, generate_series(1, ${DUE}) i
    where p.product_id = ${productId} and p.policy_id = ${String(triggeredKey.policyId)}`;
    await sql`analyze ${sql(LARGE)}.policy`;
    const middle = { lastMoment: now + 980n, productId, policyId: 9_005_000n };
    for (const page of [first, { ...first, cursor: middle }]) {
      const nodes = await run(async (db) => {
        expect((await readDuePage(db, page)).length).toBe(PAGE_ROWS);
      });
      // No index has the last moments: all due policies are sorted, each beside the feeds of both assets.
      expectIndexed(nodes, 2 * (DUE + PAGE_ROWS));
    }
  });
}
