/**
 * A product that is registered anew counts from 1 again. What these tests prove: a policy whose key comes again is kept beside
 * the newer one in rows, lists, sums and claims; and the policy with the key of an earlier one has its own `policy_due` and
 * `policy_expired`, with ids of their own, once each.
 */
import { drizzle } from "drizzle-orm/postgres-js";
import { keccak256, stringToHex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { pageRows } from "../../../api/indexed/feed.ts";
import { type PolicySearch, searchPolicies } from "../../../api/policies/search-queries.ts";
import { readClaims } from "../../../api/stats/claims/queries.ts";
import {
  type ProductFigures,
  readFiguresOfPeriod,
  readProductFigures,
} from "../../../api/stats/products/queries.ts";
import {
  alice,
  bob,
  carol,
  type EmittedLogs,
  emittedLogs,
  FLASHBTC1H,
} from "../../src/support/emitted-logs.ts";
import { type Entry, entry } from "../../src/support/emitter-chain.ts";
import type { DuePolicies } from "./due-policies.ts";
import type { ReorgWorld } from "./reorganisations.ts";

const dave = "0x0000000000000000000000000000000000000da4";
const erin = "0x00000000000000000000000000000000000000e4";
const DAY_AND_HOUR = 25n * 3600n;

/** For a file that calls `beginTest` before each test. The outbox's start has the queries read from the index's views. */
export function policyKeyAgainTests(open: () => { world: ReorgWorld; policies: DuePolicies }): void {
  let world: ReorgWorld;
  let policies: DuePolicies;
  let chain: ReorgWorld["chain"];
  let rows: ReorgWorld["rows"];
  let found: ReorgWorld["rows"]["found"];
  let logs: EmittedLogs;

  beforeAll(() => {
    ({ world, policies } = open());
    ({ chain, rows } = world);
    ({ found } = rows);
    logs = emittedLogs(chain);
  });

  test("a policy whose key comes again is kept: the newer has the key, both are in lists and sums, the older as it was", async () => {
    const { created, purchased } = logs;
    const productId = keccak256(stringToHex("COUNTED-ANEW"));
    await chain.emit(created(productId, 1n, carol), purchased(productId, 1n, carol));
    await chain.emit(created(productId, 1n, bob), purchased(productId, 1n, bob));
    await rows.caughtUp(chain.client);
    const key = { product_id: productId };
    expect(await found("policy", key)).toMatchObject([{ buyer: bob, paid_by: bob }]);
    const [older, ...others] = await found("replaced_policy", key);
    expect(others).toEqual([]);
    expect(older).toMatchObject({ buyer: carol, paid_by: bob });
    expect(await found("product_stats", key)).toMatchObject([
      { policies: 2, coverage: "1000", premium: "14" },
    ]);
    expect(await found("account", { address: bob })).toMatchObject([{ policies: 1 }]);
    const bought = await found("activity", { ref: `${productId}:1` });
    expect(bought.map(({ actor }) => actor).sort()).toEqual([bob, carol].sort());
    const { timestamp } = await chain.client.getBlock();
    const search = (more: Partial<PolicySearch>) =>
      drizzle(rows.sql, { casing: "snake_case" }).transaction(async (db) =>
        pageRows(await searchPolicies(db, { limit: 9, offset: 0, ...more }, timestamp)).map(
          ({ buyer, policyId }) => `${buyer} ${policyId}`,
        ),
      );
    expect(await search({ product: productId })).toEqual([`${bob} 1`, `${carol} 1`]);
    expect(await search({ product: productId, limit: 1, offset: 1 })).toEqual([`${carol} 1`]);
    expect(await search({ product: productId, buyer: carol })).toEqual([`${carol} 1`]);
    for (const status of ["Waiting", "Cancelled"] as const)
      expect(await search({ product: productId, status })).toEqual([]);
    // Counted from the rows of a period that has all of them, the product's figures are the same.
    const [ofPeriod, ofAll] = await drizzle(rows.sql, { casing: "snake_case" }).transaction((db) =>
      Promise.all([
        readFiguresOfPeriod(db, { from: 0n }, timestamp),
        readProductFigures(db, Promise.resolve(timestamp)),
      ]),
    );
    const figuresIn = (all: readonly ProductFigures[]) => all.find((one) => one.productId === productId);
    expect(figuresIn(ofPeriod)).toEqual(figuresIn(ofAll));
    expect(figuresIn(ofPeriod)).toMatchObject({
      policies: 2,
      untouched: 0,
    });
  });

  test("the claims of a policy whose key comes again: one for each trigger, and none with the terms of the other policy", async () => {
    const { created, purchased, triggered } = logs;
    const submitted = (submitter: `0x${string}`): Entry =>
      entry(chain.contracts.coverRouter, coverRouterAbi, "TriggerSubmitted", {
        ...{ productId: FLASHBTC1H, policyId: 900n, submitter },
      });
    const sold = (buyer: `0x${string}`) =>
      [created, purchased].map((event) => event(FLASHBTC1H, 900n, buyer));
    await chain.emit(...sold(dave), triggered(900n, dave), submitted(alice));
    await chain.emit(...sold(erin), triggered(900n, erin), submitted(bob));
    await rows.caughtUp(chain.client);
    const claimsOf = (buyer: `0x${string}`) =>
      drizzle(rows.sql, { casing: "snake_case" }).transaction(async (db) =>
        pageRows(await readClaims(db, { limit: 9, offset: 0, buyer })).map((claim) => [
          claim.submitter,
          claim.coverage,
        ]),
      );
    expect(await claimsOf(dave)).toEqual([[alice, null]]);
    expect(await claimsOf(erin)).toEqual([[bob, 500n]]);
  });

  const happened = async () => {
    await world.processed();
    return (await world.newEvents()).filter(({ type }) => type !== "policy_purchased");
  };
  const summary = async () => (await happened()).map(({ type, body }) => `${type} ${body.data.policyId}`);

  /** Buys a policy, lets the price fall until it is due, and lets its day pass. @returns its id. */
  async function buyUntilExpired(policyId?: bigint): Promise<bigint> {
    await policies.buy(policyId === undefined ? {} : { policyId });
    await policies.fall(300n);
    // The outbox sees an earlier policy before its key comes again.
    await world.processed();
    await policies.block(() => [], DAY_AND_HOUR);
    await world.processed();
    return policyId ?? policies.newest();
  }

  test("both policies with one key become due and expire", async () => {
    const policyId = await buyUntilExpired();
    const once = [`policy_due ${policyId}`, `policy_expired ${policyId}`];
    await expect.poll(summary).toEqual(once);
    await buyUntilExpired(policyId);
    await expect.poll(summary).toEqual([...once, ...once]);
    const events = await happened();
    expect(new Set(events.map(({ id }) => id)).size).toBe(4);
    expect(events.map(({ occurrence }) => occurrence)).toEqual([1, 1, 2, 2]);
    // An outbox that starts looks at all policies again.
    await world.stopOutbox();
    world.startOutbox();
    await policies.block(() => []);
    expect(await happened()).toEqual(events);
  });

  test("the later policy's events have other ids than the earlier one's, which were deleted meanwhile", async () => {
    const policyId = await buyUntilExpired();
    await expect.poll(happened).toHaveLength(2);
    const before = await happened();
    const { sql } = world.connection;
    const seqs = before.map(({ seq }) => String(seq));
    await sql`delete from service.delivery where event_seq = any(${seqs}::text[]::bigint[])`;
    await sql`delete from service.event where seq = any(${seqs}::text[]::bigint[])`;
    await buyUntilExpired(policyId);
    await expect.poll(summary).toEqual([`policy_due ${policyId}`, `policy_expired ${policyId}`]);
    const ids = new Set(before.map(({ id }) => id));
    expect((await happened()).filter(({ id }) => ids.has(id))).toEqual([]);
  });
}
