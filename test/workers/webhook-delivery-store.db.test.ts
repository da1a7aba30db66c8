/** What this proves: calls share statements, and invalid data or a lock of one call does not affect the others. */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { createLogger } from "../../lib/log.ts";
import { createDeliveryStore } from "../../workers/webhooks/delivery-store.ts";
import { atEnd } from "../support/cleanup.ts";
import { mayRest } from "../support/database.ts";
import { startReceivers } from "../support/receiver.ts";
import { all, CHAIN, type Deliveries, openDeliveries, refusedAttempt } from "./support/deliveries.ts";

let world: Deliveries;

beforeAll(async () => {
  world = await openDeliveries();
});

function openStore() {
  const quick = connect(world.databaseUrl, { name: "test-store" });
  const patient = connect(world.databaseUrl, { name: "test-patient" });
  atEnd(quick.close);
  atEnd(patient.close);
  const pools = { sql: quick.sql, patient: patient.sql };
  const writer = { chainId: CHAIN, token: randomUUID() };
  return createDeliveryStore(pools, writer, createLogger("test", "silent"));
}

/** Subscriptions with one delivery each. */
async function subscribed(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await world.subscribe("http://127.0.0.1:1/")).id);
  await world.publish(ids);
  return ids;
}

/** Locks a subscription's deliveries. Call the result to unlock them. */
async function lockDeliveries(webhookId: string): Promise<() => Promise<unknown>> {
  const held = await world.sql.reserve();
  await held`begin`;
  await mayRest(held);
  await held`select 1 from service.delivery where webhook_id = ${webhookId}::bigint for update`;
  return async () => {
    await held`commit`;
    held.release();
  };
}

test.each(["failed", "exhausted"] as const)(
  "a %s attempt that Postgres rejects is not stored, and the others are stored once",
  async (kind) => {
    const store = openStore();
    const ids = await subscribed(20);
    const batches = await Promise.all(ids.map((id) => store.claim(id)));
    const began = Date.now();
    const settled = batches.map(async (batch, n) => {
      const [delivery] = batch?.deliveries ?? [];
      if (!batch || !delivery) throw new Error("nothing was claimed");
      const { webhookId } = batch;
      const attempt = n === 7 ? { ...refusedAttempt, error: "\ud83d" } : refusedAttempt;
      const common = { webhookId, deliveryId: delivery.id, takenAt: delivery.takenAt, attempt };
      await store.settle(
        n === 7 && kind === "exhausted" ? { ...common, kind } : { ...common, kind: "failed", retryIn: 60 },
      );
    });
    await Promise.all(settled.filter((_, n) => n !== 7));
    expect(Date.now() - began).toBeLessThan(8000);
    store.stopRetrying();
    await settled[7];
    for (const [n, id] of ids.entries()) {
      expect(await world.deliveries(id)).toMatchObject([{ attempts: n === 7 ? [] : [refusedAttempt] }]);
    }
  },
);

test("a locked subscription is claimed after its lock, and does not delay others", async () => {
  const store = openStore();
  const ids = await subscribed(20);
  const [stuck = "", ...others] = ids;
  const unlock = await lockDeliveries(stuck);
  const began = Date.now();
  const claims = ids.map((id) => store.claim(id));
  expect((await Promise.all(claims.slice(1))).map((batch) => batch?.webhookId)).toEqual(others);
  expect(Date.now() - began).toBeLessThan(8000);
  await unlock();
  expect((await claims[0])?.webhookId).toBe(stuck);
});

test("a subscription that is locked during its call does not delay others' deliveries", async () => {
  const receivers = await startReceivers();
  const [stuck, other] = [receivers.at("stuck"), receivers.at("other")];
  const [one, two] = [await world.subscribe(stuck.url), await world.subscribe(other.url)];
  // Below the timeout of a call; the test locks the row long before the answer.
  stuck.behave({ kind: "answer", status: 200, delayMs: 6000 });
  await world.publish([one.id]);
  const writer = await world.start();
  writer.wake([one.id]);
  await stuck.received(1);
  const unlock = await lockDeliveries(one.id);
  const lockWaits = () => world.sql`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(lockWaits).not.toHaveLength(0);
  const began = Date.now();
  for (let n = 0; n < 3; n += 1) {
    await world.publish([two.id]);
    writer.wake([two.id]);
    await world.until(two.id, "the other subscription's delivery", all("delivered"));
  }
  expect(Date.now() - began).toBeLessThan(8000);
  await unlock();
  await world.until(one.id, "the locked subscription's delivery", all("delivered"));
  expect(stuck.requests).toHaveLength(1);
  await writer.stop();
});
