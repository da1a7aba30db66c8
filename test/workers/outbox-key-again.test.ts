/**
 * A product that is registered anew counts from 1 again. What this proves: a policy with the key of an earlier one has its own
 * `policy_due` and `policy_expired`, with ids of their own, once each.
 */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { type DuePolicies, openDuePolicies } from "./support/due-policies.ts";
import { alice, type ReorgWorld, startReorgWorld } from "./support/reorganisations.ts";

const DAY_AND_HOUR = 25n * 3600n;

let world: ReorgWorld;
let policies: DuePolicies;

beforeAll(async () => {
  world = await startReorgWorld();
  policies = openDuePolicies(world.chain, alice);
});
beforeEach(() => world.beginTest());

const happened = async () => {
  await world.processed();
  return (await world.newEvents()).filter(({ type }) => type !== "policy_purchased");
};
const summary = async () => (await happened()).map(({ type, body }) => `${type} ${body.data.policyId}`);

/** Buys a policy, lets the price fall until it is due, and lets its day pass. @returns its id. */
async function buyUntilExpired(policyId?: bigint): Promise<bigint> {
  await policies.buy(policyId === undefined ? {} : { policyId });
  for (let n = 0; n < 3; n += 1) await policies.fall();
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
  await world.outbox.stop();
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
