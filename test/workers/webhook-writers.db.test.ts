/**
 * What this proves: a writer that dies, freezes or stops loses no delivery; two writers never call a receiver at once; and a
 * late outcome is stored without undoing a newer one.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { webhookFigures } from "../../lib/webhooks/figures.ts";
import {
  claimDeliveries,
  releaseLeases,
  unclaimDeliveries,
} from "../../workers/webhooks/claim-deliveries.ts";
import { makeUndeliverable, settleDeliveries } from "../../workers/webhooks/settle-deliveries.ts";
import { hang, ok, type Receivers, slow, startReceivers } from "../support/receiver.ts";
import {
  all,
  CHAIN,
  type Deliveries,
  deliveredAttempt,
  openDeliveries,
  refusedAttempt,
} from "./support/deliveries.ts";

let world: Deliveries;
let receivers: Receivers;

beforeAll(async () => {
  world = await openDeliveries();
  receivers = await startReceivers();
});

const newWriter = () => ({ chainId: CHAIN, token: randomUUID() });
async function subscribed(name: string) {
  const receiver = receivers.at(name);
  return { receiver, ...(await world.subscribe(receiver.url)) };
}

/** Claims a batch of a subscription. */
async function claimBatch(writer: ReturnType<typeof newWriter>, webhookId: string) {
  const batch = (await claimDeliveries(world.sql, writer, [webhookId])).get(webhookId);
  if (!batch) throw new Error("nothing was claimed");
  return batch;
}

function settlement<
  Rest extends { kind: "delivered" } | { kind: "failed"; retryIn: number } | { kind: "exhausted" },
>(batch: Awaited<ReturnType<typeof claimBatch>>, index: number, rest: Rest) {
  const { id: deliveryId = "", takenAt = "" } = batch.deliveries[index] ?? {};
  const attempt = rest.kind === "delivered" ? deliveredAttempt : refusedAttempt;
  return { webhookId: batch.webhookId, deliveryId, takenAt, attempt, ...rest };
}

/** Waits for two sweeps: each finds deliveries without a wake-up. */
async function waitForTwoSweeps(): Promise<void> {
  const { id } = await subscribed("swept");
  for (let n = 0; n < 2; n += 1) {
    await world.publish([id]);
    await world.until(id, "a delivery without a wake-up", all("delivered"));
  }
}

/** Lets a lease expire. */
const expireLease = (webhookId: string) =>
  world.sql`update service.webhook set lease_until = now() - interval '1 s' where id = ${webhookId}`;

test("one writer has a subscription until it releases the lease or the lease expires", async () => {
  const { id } = await subscribed("lease");
  const events = await world.publish([id], 25);
  const [one, other] = [newWriter(), newWriter()];
  const batch = await claimBatch(one, id);
  expect(batch.deliveries.map(({ eventId }) => eventId)).toEqual(events.slice(0, 20));
  expect(await claimDeliveries(world.sql, other, [id])).toEqual(new Map());
  // Claimed deliveries are marked as taken before they are sent.
  expect((await world.deliveries(id)).filter(({ takenAt }) => takenAt !== null)).toHaveLength(20);

  await unclaimDeliveries(world.sql, batch.deliveries);
  expect((await world.deliveries(id)).filter(({ takenAt }) => takenAt !== null)).toEqual([]);
  expect(await releaseLeases(world.sql, other, [id])).toEqual(new Map());
  expect(await releaseLeases(world.sql, one, [id])).toEqual(new Map([[id, 0]]));
  await claimBatch(other, id);
  expect(await claimDeliveries(world.sql, one, [id])).toEqual(new Map());
  await expireLease(id);
  await claimBatch(one, id);
});

test("a returned delivery keeps the mark of an earlier claim, which may have been sent", async () => {
  const { id } = await subscribed("claimed-before");
  await world.publish([id]);
  const first = await claimBatch(newWriter(), id);
  await expireLease(id);
  const second = await claimBatch(newWriter(), id);
  expect(second.deliveries[0]?.previousTakenAt).toBe(first.deliveries[0]?.takenAt);
  await unclaimDeliveries(world.sql, second.deliveries);
  expect((await world.deliveries(id))[0]?.takenAt).toBe(first.deliveries[0]?.takenAt);
});

test("a late failure is stored and does not count; a late success counts, and a failure does not undo it", async () => {
  const { id } = await subscribed("late");
  await world.publish([id], 2);
  const early = await claimBatch(newWriter(), id);
  await expireLease(id);
  const late = await claimBatch(newWriter(), id);

  await settleDeliveries(world.sql, [settlement(early, 0, { kind: "failed", retryIn: 60 })]);
  const [stillTaken] = await world.deliveries(id);
  expect(stillTaken).toMatchObject({ state: "pending", failures: 0, attempts: [refusedAttempt] });
  expect(stillTaken?.takenAt).toBe(late.deliveries[0]?.takenAt);

  await settleDeliveries(world.sql, [settlement(early, 1, { kind: "delivered" })]);
  await settleDeliveries(world.sql, [
    settlement(late, 0, { kind: "delivered" }),
    settlement(late, 1, { kind: "failed", retryIn: 60 }),
  ]);
  expect(await world.deliveries(id)).toMatchObject([
    { state: "delivered", failures: 0, takenAt: null, attempts: [refusedAttempt, deliveredAttempt] },
    { state: "delivered", failures: 0, takenAt: null, attempts: [deliveredAttempt, refusedAttempt] },
  ]);
});

test("a delivery that was cancelled during its attempt is not retried, and makes nothing undeliverable", async () => {
  const { id } = await subscribed("reverted");
  await world.publish([id], 3);
  await world.sql`update service.delivery set failures = 6 where webhook_id = ${id}`;
  const batch = await claimBatch(newWriter(), id);
  await world.sql`update service.delivery set state = 'cancelled' where webhook_id = ${id}`;
  await settleDeliveries(world.sql, [
    settlement(batch, 0, { kind: "failed", retryIn: 60 }),
    settlement(batch, 2, { kind: "delivered" }),
  ]);
  await world.sql.begin((tx) => makeUndeliverable(tx, settlement(batch, 1, { kind: "exhausted" })));
  expect(await world.deliveries(id)).toMatchObject([
    { state: "cancelled", failures: 6, takenAt: null, attempts: [refusedAttempt] },
    { state: "cancelled", failures: 6, takenAt: null, attempts: [refusedAttempt] },
    { state: "delivered", attempts: [deliveredAttempt] },
  ]);
  expect(await world.webhook(id)).toMatchObject({ state: "active" });
});

test("the newest twenty attempts are stored", async () => {
  const { id } = await subscribed("many");
  await world.publish([id]);
  const batch = await claimBatch(newWriter(), id);
  for (let n = 0; n < 23; n += 1) {
    const one = settlement(batch, 0, { kind: "failed", retryIn: 0 });
    await settleDeliveries(world.sql, [{ ...one, attempt: { ...refusedAttempt, durationMs: n } }]);
  }
  const [row] = await world.deliveries(id);
  expect(row?.attempts.map(({ durationMs }) => durationMs)).toEqual(
    Array.from({ length: 20 }, (_, n) => n + 3),
  );
  expect(row?.failures).toBe(1);
});

test("two writers share the work: all events arrive in order, and no receiver has two calls at once", async () => {
  const subscriptions = await Promise.all(Array.from({ length: 30 }, (_, n) => subscribed(`shared-${n}`)));
  for (const { receiver } of subscriptions) receiver.behave(slow(5));
  const ids = subscriptions.map(({ id }) => id);
  const events = await world.publish(ids, 40);
  const writers = await Promise.all([world.start(), world.start()]);
  for (const writer of writers) writer.wake(ids);
  for (const { id } of subscriptions) await world.until(id, "all deliveries", all("delivered"));
  for (const { receiver } of subscriptions) {
    expect(receiver.requests.map((request) => request.id)).toEqual(events);
    expect(receiver.mostAtOnce()).toBe(1);
  }
  await Promise.all(writers.map((writer) => writer.stop()));
});

test("three times more hanging receivers than slots do not delay the others", async () => {
  const bad = await Promise.all(Array.from({ length: 120 }, (_, n) => subscribed(`hangs-${n}`)));
  const good = await Promise.all(Array.from({ length: 20 }, (_, n) => subscribed(`works-${n}`)));
  for (const { receiver } of bad) receiver.behave(hang);
  await world.publish(
    [...bad, ...good].map(({ id }) => id),
    3,
  );
  const writer = await world.start();
  for (const each of [bad, good]) writer.wake(each.map(({ id }) => id));
  await Promise.all(good.map(({ receiver }) => receiver.received(3)));
  for (const { id } of bad) expect((await world.deliveries(id))[0]?.attempts).toEqual([]);
  // From now on the hanging ones are in the slow lane.
  await world.until(bad[0]?.id ?? "", "a timeout", ([row]) => row?.failures === 1);
  const again = Date.now();
  await world.publish(good.map(({ id }) => id));
  writer.wake(good.map(({ id }) => id));
  await Promise.all(good.map(({ receiver }) => receiver.received(4)));
  // Less than the timeout of a hanging call.
  expect(Date.now() - again).toBeLessThan(8_000);
  await writer.stop();
  await world.sql`delete from service.webhook where id = any(${bad.map(({ id }) => id)}::text[]::bigint[])`;
});

test("another writer sends a dead writer's claimed deliveries after the lease has expired", async () => {
  const { receiver, id } = await subscribed("dead");
  await world.publish([id], 2);
  await claimBatch(newWriter(), id);
  const writer = await world.start();
  await waitForTwoSweeps();
  expect(receiver.requests).toEqual([]);
  await expireLease(id);
  await world.until(id, "all deliveries", all("delivered"));
  expect(receiver.requests).toHaveLength(2);
  await writer.stop();
});

test("a stop aborts a call under way, which is no failure, and another writer continues at once", async () => {
  const { receiver, id } = await subscribed("stopped");
  receiver.behave(hang);
  const events = await world.publish([id], 3);
  const writer = await world.start();
  writer.wake([id]);
  await receiver.received(1);
  await writer.stop();
  const [first, ...others] = await world.deliveries(id);
  // It stays marked as taken, because it may have arrived.
  expect(first).toMatchObject({ state: "pending", failures: 0, attempts: [] });
  expect(first?.takenAt).not.toBeNull();
  for (const other of others) expect(other).toMatchObject({ failures: 0, attempts: [], takenAt: null });
  expect(await world.webhook(id)).toMatchObject({ state: "active", leased: false });

  receiver.behave(ok);
  const next = await world.start();
  await world.until(id, "all deliveries", all("delivered"));
  expect(receiver.requests.map((request) => request.id)).toEqual([events[0], ...events]);
  await next.stop();
});

test("a stop waits for calls that end soon", async () => {
  const { receiver, id } = await subscribed("soon");
  receiver.behave(slow(800));
  await world.publish([id]);
  const writer = await world.start();
  writer.wake([id]);
  await receiver.received(1);
  await writer.stop();
  expect(await world.deliveries(id)).toMatchObject([{ state: "delivered", takenAt: null }]);
});

test("calls of unverified webhooks are limited for their wallet and their host over all writers, and late ones are not dropped", async () => {
  const limited = await openDeliveries();
  const { sql } = limited;
  const { url } = receivers;
  const [wallet, other] = [`0x${"a1".repeat(20)}`, `0x${"b2".repeat(20)}`];
  const [one, two, three] = await Promise.all([
    limited.subscribe(`${url}/unverified-1`, wallet),
    limited.subscribe(`${url}/unverified-2`, wallet),
    limited.subscribe(`${url}/unverified-3`, other),
  ]);
  const verified = await limited.subscribe(`${url}/verified`, wallet);
  await sql`update service.webhook set verified_at = now() where id = ${verified.id}`;
  const unverified = [
    receivers.at("unverified-1"),
    receivers.at("unverified-2"),
    receivers.at("unverified-3"),
  ];
  const made = () => unverified.reduce((sum, { requests }) => sum + requests.length, 0);
  receivers.at("verified");
  const ids = [one.id, two.id, three.id];
  await limited.publish([...ids, verified.id], 8);
  const options = {
    unverifiedLimits: { deliveries: { host: 5, wallet: 3 }, tests: { host: 1, wallet: 1 } },
  };
  await Promise.all([limited.start(options), limited.start(options)]);
  await limited.until(verified.id, "the verified webhook's deliveries", all("delivered"));
  const resting = () => sql`select from service.webhook where lease_until > now() + interval '50 min'`;
  await expect.poll(resting).toHaveLength(3);
  expect(made()).toBe(5);
  const ofWallet = (unverified[0]?.requests.length ?? 0) + (unverified[1]?.requests.length ?? 0);
  expect([2, 3]).toContain(ofWallet);
  const rows = (await Promise.all(ids.map((id) => limited.deliveries(id)))).flat();
  expect(rows.filter(({ state }) => state === "delivered")).toHaveLength(5);
  const late = rows.filter(({ state }) => state === "pending");
  expect(late).toHaveLength(19);
  for (const row of late) expect(row).toMatchObject({ failures: 0, takenAt: null, attempts: [] });
  expect(await webhookFigures(sql, CHAIN)).toMatchObject({ pending: 19, oldest: null });

  // Tests have a count of their own. One above it says why nothing was sent.
  await limited.publish([one.id], 1, { test: true });
  await limited.until(one.id, "the test", (found) => found.at(-1)?.attempts.length === 1);
  expect(made()).toBe(6);
  await limited.publish([one.id], 1, { test: true });
  const [refused] = (
    await limited.until(
      one.id,
      "the other test",
      (found) => found.length === 10 && found[9]?.attempts.length === 1,
    )
  ).slice(-1);
  expect(refused).toMatchObject({ state: "undeliverable", attempts: [{ outcome: "target_refused" }] });
  expect(refused?.attempts[0]?.error).toMatch(/nothing was sent: the webhook is not verified/);
  expect(made()).toBe(6);

  // An hour later the next ones are made.
  await sql`update service.rate_limit set expire = 0`;
  await sql`update service.webhook set lease_until = '-infinity' where id = any(${ids}::text[]::bigint[])`;
  await expect.poll(made).toBe(11);
  await expect.poll(resting).toHaveLength(3);

  // An echo of the challenge ends the rest, and one of the whole request does not.
  await sql`delete from service.rate_limit`;
  let echo = (body: string) => body;
  receivers.at("unverified-1").behave((_, { body }) => ({ kind: "answer", status: 200, body: echo(body) }));
  await sql`select service.add_test(${CHAIN}, ${wallet}, ${one.id}::bigint, 'webhook_test')`;
  await limited.until(
    one.id,
    "the reflected test",
    (found) => found.length === 11 && found[10]?.state === "delivered",
  );
  expect(await resting()).toHaveLength(3);
  await sql`delete from service.rate_limit`;
  const event = z.object({ data: z.object({ challenge: z.string().optional() }).optional() });
  echo = (body) => event.parse(JSON.parse(body)).data?.challenge ?? "";
  await sql`select service.add_test(${CHAIN}, ${wallet}, ${one.id}::bigint, 'webhook_test')`;
  await limited.until(one.id, "all deliveries", (found) =>
    found.every(({ state }, n) => state === "delivered" || n === 9),
  );
});
