/**
 * What this proves: a reorganisation that takes away what made a policy due reverts the event, and a policy that is due by
 * another log has another event; whatever fails in indexer and writers, no event of a due policy is repeated, lost or reverted.
 */
import type { Hex } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { startChangedIndexer, waitForOtherSchema } from "../src/support/changed-build.ts";
import { servedSchema } from "../src/support/rows.ts";
import { type DuePolicies, openDuePolicies } from "./support/due-policies.ts";
import { alice, type ReorgWorld, startReorgWorld } from "./support/reorganisations.ts";

let world: ReorgWorld;
let policies: DuePolicies;
/** The newest policy of earlier tests: a reorganisation may leave one that a later fall makes due. */
let earlier: bigint;

beforeAll(async () => {
  // Each test expects the reversal first, however slow the machine is.
  world = await startReorgWorld({ holdMs: 60_000 });
  policies = openDuePolicies(world.chain, alice);
});
beforeEach(async () => {
  // A round that a reorganisation moved may have a later time than its block: later policies begin after it.
  await policies.block(() => [], 100n);
  await world.beginTest();
  earlier = policies.newest();
});

const reverted = z.object({ eventType: z.literal("policy_due"), data: z.object({ policyId: z.string() }) });
/** The new events of policies that are due, and the reversals of such events, without policies of earlier tests. */
const dueEvents = async () =>
  (await world.newEvents()).filter(({ type, body: { data } }) => {
    const policyId = type === "policy_due" ? data.policyId : reverted.safeParse(data).data?.data.policyId;
    return policyId !== undefined && BigInt(String(policyId)) > earlier;
  });
const summary = async () =>
  (await dueEvents()).map(({ type, reverted }) => `${type}${reverted ? " reverted" : ""}`);
/** Buys a policy and lets the price fall in three blocks, above two quiet ones. @returns the transactions of the three rounds. */
async function makeDue(): Promise<Hex[]> {
  await policies.buy();
  await world.mine(2);
  const rounds: Hex[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { transactionHash } = await policies.fall();
    rounds.push(await world.rawTransaction(transactionHash));
  }
  await world.processed();
  expect(await summary()).toEqual(["policy_due"]);
  return rounds;
}

test("a reorganisation that takes the third round away sends event_reverted, and another third round makes it due again", async () => {
  await makeDue();
  await world.markAsSent();
  await world.reorganise(1);
  await world.untilReverted();
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted", "event_reverted"]);
  const third = await policies.fall();
  await policies.fall();
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted", "event_reverted", "policy_due"]);
  const [first, reversal, second] = await dueEvents();
  expect(reversal?.body.data).toMatchObject({
    ...{ eventId: first?.id, eventType: "policy_due", data: first?.body.data },
  });
  expect(second).toMatchObject({ key: first?.key, occurrence: 2, blockHash: third.blockHash });
  expect(second?.id).not.toBe(first?.id);
});

test("a third round that is not sent yet is reverted in silence", async () => {
  await makeDue();
  await world.reorganise(1);
  await world.untilReverted();
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted"]);
});

test("a third round that moves to a later block has another id, after the reversal of the first", async () => {
  const [, , third] = await makeDue();
  await world.markAsSent();
  await world.mine();
  await world.reorganise(2, [[third ?? "0x", 1]]);
  await world.untilReverted();
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted", "event_reverted", "policy_due"]);
  const [first, , second] = await dueEvents();
  expect(second?.txHash).toBe(first?.txHash);
  expect(second?.blockNumber).toBe((first?.blockNumber ?? 0) + 1);
  expect(second?.id).not.toBe(first?.id);
  expect({ ...second?.body.data, dueAt: null }).toEqual({ ...first?.body.data, dueAt: null });
});

test("a reorganisation that leaves only the first round: the policy is due with the second one after it", async () => {
  await makeDue();
  await world.markAsSent();
  await world.reorganise(2);
  await world.untilReverted();
  await policies.fall();
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted", "event_reverted"]);
  await policies.fall();
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted", "event_reverted", "policy_due"]);
});

test("a reorganisation that takes the purchase away reverts the event", async () => {
  await makeDue();
  await world.markAsSent();
  await world.reorganise(6);
  await world.untilReverted(2);
  await policies.fall();
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted", "event_reverted"]);
});

test("an indexer that is killed in the middle of a fall, and two writers at once, repeat and lose nothing", async () => {
  for (let n = 0; n < 20; n += 1) await policies.buy();
  await policies.fall();
  await policies.fall();
  await world.processed();
  const other = world.startOutbox();
  await world.stack.kill9("indexer");
  const starting = world.stack.start("indexer");
  await policies.fall();
  await starting;
  await world.mine();
  await world.processed();
  await world.stack.kill9("indexer");
  await world.stack.start("indexer");
  await world.mine();
  await world.processed();
  await other.stop();
  const ids = Array.from({ length: 20 }, (_, n) => String(earlier + BigInt(n) + 1n));
  expect((await dueEvents()).map(({ body }) => body.data.policyId)).toEqual(ids);
});

test("an outbox that starts again between two rounds, and after the third, stores the event once", async () => {
  await world.outbox.stop();
  await policies.buy();
  await policies.fall();
  await policies.fall();
  const second = world.startOutbox();
  await world.processed();
  expect(await summary()).toEqual([]);
  await second.stop();
  await policies.fall();
  await world.mine(2);
  const third = world.startOutbox();
  await world.processed();
  await third.stop();
  world.startOutbox();
  await world.mine(2);
  await world.processed();
  expect(await summary()).toEqual(["policy_due"]);
});

test("a new build of the index has the same events: none is repeated, and a later fall is found", {
  timeout: 600_000,
}, async () => {
  await makeDue();
  await policies.buy();
  await policies.fall();
  await world.processed();
  const old = await servedSchema(world.rows.sql);
  const before = await world.events();
  const changed = await startChangedIndexer(world.stack);
  await waitForOtherSchema(world.rows.sql, old, { indexer: changed, meanwhile: () => world.mine() });
  await world.mine();
  await world.processed();
  expect(await world.events()).toEqual(before);
  await policies.fall();
  await policies.fall();
  await world.processed();
  expect(await summary()).toEqual(["policy_due", "policy_due"]);
  await changed.stop();
});
