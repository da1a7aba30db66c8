/**
 * What this proves: the statements of many turns are one, and yet what is wrong with one of them, or who holds it locked,
 * is its own trouble.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { createLogger } from "../../lib/log.ts";
import type { Attempt } from "../../lib/webhooks/attempt.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { createBooks } from "../../workers/webhooks/books.ts";
import { atEnd } from "../support/cleanup.ts";
import { mayRest } from "../support/database.ts";
import { startReceivers } from "../support/receiver.ts";
import { all, CHAIN, type Deliveries, openDeliveries } from "./support/deliveries.ts";

let world: Deliveries;

beforeAll(async () => {
  world = await openDeliveries();
});

const refused: Attempt = {
  at: new Date().toISOString(),
  durationMs: 1,
  outcome: "refused",
  status: 500,
  error: "answered 500",
  response: "",
};

function openBooks() {
  const quick = connect(world.databaseUrl, { name: "test-books", lockTimeout: 250 });
  const patient = connect(world.databaseUrl, { name: "test-patient" });
  atEnd(quick.close);
  atEnd(patient.close);
  return createBooks({
    sql: quick.sql,
    notes: quick.sql,
    patient: patient.sql,
    writer: { chainId: CHAIN, token: randomUUID() },
    log: createLogger("test", "silent"),
  });
}

/** Subscriptions with one delivery each. */
async function subscribed(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push((await world.subscribe("http://127.0.0.1:1/")).id);
  await world.publish(ids);
  return ids;
}

/** Keeps a subscription's deliveries from everybody until the result is called. */
async function locked(webhookId: string): Promise<() => Promise<unknown>> {
  const held = await world.sql.reserve();
  await held`begin`;
  await mayRest(held);
  await held`select 1 from service.delivery where webhook_id = ${webhookId}::bigint for update`;
  return async () => {
    await held`commit`;
    held.release();
  };
}

test("an attempt that Postgres does not take keeps no other from being written down", async () => {
  const books = openBooks();
  const ids = await subscribed(20);
  const turns = await Promise.all(ids.map((id) => books.claim(id)));
  const began = Date.now();
  const settled = turns.map(async (turn, n) => {
    const [delivery] = turn?.deliveries ?? [];
    if (!turn || !delivery) throw new Error("nothing was claimed");
    const { webhookId } = turn;
    const attempt = n === 7 ? { ...refused, error: "\ud83d" } : refused;
    const common = { webhookId, deliveryId: delivery.id, takenAt: delivery.takenAt, attempt };
    await books.settle({ ...common, kind: "failed", retryIn: 60 });
  });
  await Promise.all(settled.filter((_, n) => n !== 7));
  expect(Date.now() - began).toBeLessThan(8000);
  books.hurry();
  await settled[7];
  for (const [n, id] of ids.entries()) {
    expect(await world.deliveries(id)).toMatchObject([{ attempts: n === 7 ? [] : [refused] }]);
  }
});

test("a subscription that somebody holds locked is claimed late, and keeps no other waiting", async () => {
  const books = openBooks();
  const ids = await subscribed(20);
  const [stuck = "", ...others] = ids;
  const unlock = await locked(stuck);
  const began = Date.now();
  const claims = ids.map((id) => books.claim(id));
  expect((await Promise.all(claims.slice(1))).map((turn) => turn?.webhookId)).toEqual(others);
  expect(Date.now() - began).toBeLessThan(8000);
  await unlock();
  expect((await claims[0])?.webhookId).toBe(stuck);
});

test("a subscription that somebody holds locked while it is called keeps no other's deliveries waiting", async () => {
  const receivers = await startReceivers();
  const [stuck, other] = [receivers.at("stuck"), receivers.at("other")];
  const [one, two] = [await world.subscribe(stuck.url), await world.subscribe(other.url)];
  // Within the time that a call may take; the row is locked long before.
  stuck.behave({ kind: "answer", status: 200, delayMs: 6000 });
  await world.publish([one.id]);
  const writer = await world.start();
  writer.wake([one.id]);
  await stuck.received(1);
  const unlock = await locked(one.id);
  await waitFor({
    what: "the writer to wait for the row",
    probe: async () => {
      const waiting = await world.sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0 || undefined;
    },
    timeoutMs: 60_000,
  });
  const began = Date.now();
  for (let n = 0; n < 3; n += 1) {
    await world.publish([two.id]);
    writer.wake([two.id]);
    await world.until(two.id, "the other one's delivery", all("delivered"));
  }
  expect(Date.now() - began).toBeLessThan(8000);
  await unlock();
  await world.until(one.id, "the locked one's delivery", all("delivered"));
  expect(stuck.requests).toHaveLength(1);
  await writer.stop();
});
