/**
 * What this proves: a writer that dies, sleeps or stops loses nothing; two writers never call a receiver at once; and a
 * result that comes too late is kept and turns nothing back.
 */
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { beforeAll, expect, test } from "vitest";
import type { Attempt } from "../../lib/webhooks/attempt.ts";
import { claim, handBack, release } from "../../workers/webhooks/claim.ts";
import { type Settlement, settle } from "../../workers/webhooks/settle.ts";
import { hang, ok, type Receivers, slow, startReceivers } from "../support/receiver.ts";
import { all, CHAIN, type Deliveries, openDeliveries } from "./support/deliveries.ts";

let world: Deliveries;
let receivers: Receivers;

beforeAll(async () => {
  world = await openDeliveries();
  receivers = await startReceivers();
});

const newWriter = () => ({ chainId: CHAIN, token: randomUUID() });
const delivered: Attempt = {
  at: new Date().toISOString(),
  durationMs: 1,
  outcome: "delivered",
  status: 200,
  error: null,
  response: "",
};
const refused: Attempt = { ...delivered, outcome: "refused", status: 500, error: "answered 500" };

async function subscribed(name: string) {
  const receiver = receivers.at(name);
  return { receiver, ...(await world.subscribe(receiver.url)) };
}

/** What a writer has claimed of a subscription. */
async function claimed(writer: ReturnType<typeof newWriter>, webhookId: string) {
  const turn = (await claim(world.sql, writer, [webhookId])).get(webhookId);
  if (!turn) throw new Error("nothing was claimed");
  return turn;
}

function settlement(
  turn: Awaited<ReturnType<typeof claimed>>,
  index: number,
  rest: { kind: "delivered" } | { kind: "failed"; retryIn: number } | { kind: "exhausted" },
): Settlement {
  const { id: deliveryId = "", takenAt = "" } = turn.deliveries[index] ?? {};
  const attempt = rest.kind === "delivered" ? delivered : refused;
  return { webhookId: turn.webhookId, deliveryId, takenAt, attempt, ...rest };
}

/** Waits until the writers have looked again and again for what is due: they are woken for none of it. */
async function waitForTwoSweeps(): Promise<void> {
  const { id } = await subscribed("swept");
  for (let n = 0; n < 2; n += 1) {
    await world.publish([id]);
    await world.until(id, "what nobody was woken for", all("delivered"));
  }
}

/** As if the time of a lease were over. */
const lapse = (webhookId: string) =>
  world.sql`update service.webhook set lease_until = now() - interval '1 s' where id = ${webhookId}`;

test("a subscription is one writer's, until it gives it back or its lease is over", async () => {
  const { id } = await subscribed("lease");
  const events = await world.publish([id], 25);
  const [one, other] = [newWriter(), newWriter()];
  const turn = await claimed(one, id);
  expect(turn.deliveries.map(({ eventId }) => eventId)).toEqual(events.slice(0, 20));
  expect(await claim(world.sql, other, [id])).toEqual(new Map());
  // What is taken is marked as such before it is sent.
  expect((await world.deliveries(id)).filter(({ takenAt }) => takenAt !== null)).toHaveLength(20);

  await handBack(world.sql, turn.deliveries);
  expect((await world.deliveries(id)).filter(({ takenAt }) => takenAt !== null)).toEqual([]);
  expect(await release(world.sql, other, [id])).toEqual(new Map());
  expect(await release(world.sql, one, [id])).toEqual(new Map([[id, 0]]));
  await claimed(other, id);
  expect(await claim(world.sql, one, [id])).toEqual(new Map());
  await lapse(id);
  await claimed(one, id);
});

test("what may have been sent before stays known when it is handed back unsent", async () => {
  const { id } = await subscribed("may-have-been");
  await world.publish([id]);
  const first = await claimed(newWriter(), id);
  await lapse(id);
  const second = await claimed(newWriter(), id);
  expect(second.deliveries[0]?.formerTakenAt).toBe(first.deliveries[0]?.takenAt);
  await handBack(world.sql, second.deliveries);
  expect((await world.deliveries(id))[0]?.takenAt).toBe(first.deliveries[0]?.takenAt);
});

test("a late failure is kept and counts for nothing; a late success counts, and nothing takes it back", async () => {
  const { id } = await subscribed("late");
  await world.publish([id], 2);
  const early = await claimed(newWriter(), id);
  await lapse(id);
  const late = await claimed(newWriter(), id);

  await settle(world.sql, [settlement(early, 0, { kind: "failed", retryIn: 60 })]);
  const [stillTaken] = await world.deliveries(id);
  expect(stillTaken).toMatchObject({ state: "pending", failures: 0, attempts: [refused] });
  expect(stillTaken?.takenAt).toBe(late.deliveries[0]?.takenAt);

  await settle(world.sql, [settlement(early, 1, { kind: "delivered" })]);
  await settle(world.sql, [
    settlement(late, 0, { kind: "delivered" }),
    settlement(late, 1, { kind: "failed", retryIn: 60 }),
  ]);
  expect(await world.deliveries(id)).toMatchObject([
    { state: "delivered", failures: 0, takenAt: null, attempts: [refused, delivered] },
    { state: "delivered", failures: 0, takenAt: null, attempts: [delivered, refused] },
  ]);
});

test("what was reverted while it was sent is not tried again, and no last failure", async () => {
  const { id } = await subscribed("reverted");
  await world.publish([id], 3);
  await world.sql`update service.delivery set failures = 6 where webhook_id = ${id}`;
  const turn = await claimed(newWriter(), id);
  await world.sql`update service.delivery set state = 'cancelled' where webhook_id = ${id}`;
  await settle(world.sql, [
    settlement(turn, 0, { kind: "failed", retryIn: 60 }),
    settlement(turn, 1, { kind: "exhausted" }),
    settlement(turn, 2, { kind: "delivered" }),
  ]);
  expect(await world.deliveries(id)).toMatchObject([
    { state: "cancelled", failures: 6, takenAt: null, attempts: [refused] },
    { state: "cancelled", failures: 6, takenAt: null, attempts: [refused] },
    { state: "delivered", attempts: [delivered] },
  ]);
  expect(await world.webhook(id)).toMatchObject({ state: "active" });
});

test("of many attempts the newest twenty are kept", async () => {
  const { id } = await subscribed("many");
  await world.publish([id]);
  const turn = await claimed(newWriter(), id);
  for (let n = 0; n < 23; n += 1) {
    const one = settlement(turn, 0, { kind: "failed", retryIn: 0 });
    await settle(world.sql, [{ ...one, attempt: { ...refused, durationMs: n } }]);
  }
  const [row] = await world.deliveries(id);
  expect(row?.attempts.map(({ durationMs }) => durationMs)).toEqual(
    Array.from({ length: 20 }, (_, n) => n + 3),
  );
  expect(row?.failures).toBe(1);
});

test("two writers share the work: everything arrives, in order, and no receiver is called twice at once", async () => {
  const some = await Promise.all(Array.from({ length: 30 }, (_, n) => subscribed(`shared-${n}`)));
  for (const { receiver } of some) receiver.behave(slow(5));
  const ids = some.map(({ id }) => id);
  const events = await world.publish(ids, 40);
  const writers = await Promise.all([world.start(), world.start()]);
  for (const writer of writers) writer.wake(ids);
  for (const { id } of some) await world.until(id, "all to be delivered", all("delivered"));
  for (const { receiver } of some) {
    expect(receiver.requests.map((request) => request.id)).toEqual(events);
    expect(receiver.mostAtOnce()).toBe(1);
  }
  await Promise.all(writers.map((writer) => writer.stop()));
});

test("three times as many receivers that hang as there are places are given up after the others have everything", async () => {
  const bad = await Promise.all(Array.from({ length: 120 }, (_, n) => subscribed(`hangs-${n}`)));
  const good = await Promise.all(Array.from({ length: 20 }, (_, n) => subscribed(`works-${n}`)));
  for (const { receiver } of bad) receiver.behave(hang);
  await world.publish(
    [...bad, ...good].map(({ id }) => id),
    3,
  );
  const writer = await world.start();
  for (const some of [bad, good]) writer.wake(some.map(({ id }) => id));
  await Promise.all(good.map(({ receiver }) => receiver.received(3)));
  for (const { id } of bad) expect((await world.deliveries(id))[0]?.attempts).toEqual([]);
  // From now on those that hang have places of their own.
  await world.until(bad[0]?.id ?? "", "a time-out", ([row]) => row?.failures === 1);
  const again = Date.now();
  await world.publish(good.map(({ id }) => id));
  writer.wake(good.map(({ id }) => id));
  await Promise.all(good.map(({ receiver }) => receiver.received(4)));
  // Less than one that hangs takes.
  expect(Date.now() - again).toBeLessThan(8_000);
  await writer.stop();
  await world.sql`delete from service.webhook where id = any(${bad.map(({ id }) => id)}::text[]::bigint[])`;
});

test("what a dead writer had taken is sent by another one, once the lease is over", async () => {
  const { receiver, id } = await subscribed("dead");
  await world.publish([id], 2);
  await claimed(newWriter(), id);
  const writer = await world.start();
  await waitForTwoSweeps();
  expect(receiver.requests).toEqual([]);
  await lapse(id);
  await world.until(id, "all to be delivered", all("delivered"));
  expect(receiver.requests).toHaveLength(2);
  await writer.stop();
});

test("a stop leaves in time; what it gives up is no failure, and goes on elsewhere at once", async () => {
  const { receiver, id } = await subscribed("stopped");
  receiver.behave(hang);
  const events = await world.publish([id], 3);
  const writer = await world.start();
  writer.wake([id]);
  await receiver.received(1);
  const before = Date.now();
  await writer.stop();
  expect(Date.now() - before).toBeLessThan(8000);
  const [first, ...others] = await world.deliveries(id);
  // It may have arrived.
  expect(first).toMatchObject({ state: "pending", failures: 0, attempts: [] });
  expect(first?.takenAt).not.toBeNull();
  for (const other of others) expect(other).toMatchObject({ failures: 0, attempts: [], takenAt: null });
  expect(await world.webhook(id)).toMatchObject({ state: "active", leased: false });

  receiver.behave(ok);
  const next = await world.start();
  await world.until(id, "all to be delivered", all("delivered"));
  expect(receiver.requests.map((request) => request.id)).toEqual([events[0], ...events]);
  await next.stop();
});

test("a stop lets calls under way end that end soon", async () => {
  const { receiver, id } = await subscribed("soon");
  receiver.behave(slow(800));
  await world.publish([id]);
  const writer = await world.start();
  writer.wake([id]);
  await receiver.received(1);
  await writer.stop();
  expect(await world.deliveries(id)).toMatchObject([{ state: "delivered", takenAt: null }]);
});

test("a key for secrets that does not fit costs no attempt", async () => {
  const { receiver, id } = await subscribed("key");
  await world.publish([id]);
  const config = {
    DATABASE_URL: world.databaseUrl,
    REDIS_URL: undefined,
    SECRETS_KEY: "ab".repeat(32),
    WEBHOOK_CONCURRENCY: 10,
  };
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
  const wrong = await world.start({ config, log });
  wrong.wake([id]);
  await expect.poll(() => lines).toContainEqual(expect.stringContaining("a turn of deliveries failed"));
  expect(receiver.requests).toEqual([]);
  await world.until(id, "it to be handed back", ([row]) => row?.takenAt === null);
  expect(await world.deliveries(id)).toMatchObject([{ state: "pending", failures: 0, attempts: [] }]);
  await wrong.stop();
});
