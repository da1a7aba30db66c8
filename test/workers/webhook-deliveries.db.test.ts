/**
 * What this proves: each event arrives signed and in order; a failed delivery is retried on schedule without delaying others;
 * and the seventh failure makes the subscription undeliverable.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { expectSigned, flapping, hang, ok, startReceivers, status } from "../support/receiver.ts";
import { describeWithRedis, freshRedis } from "../support/redis.ts";
import { newTrace } from "../support/trace.ts";
import { all, type Deliveries, openDeliveries } from "./support/deliveries.ts";

/** The tests of what the queue has a part in; and on one queue all others too. */
function deliveryTests(open: () => Promise<Deliveries>, { others = false } = {}): void {
  let world: Deliveries;
  let receivers: Awaited<ReturnType<typeof startReceivers>>;
  let wake: (ids: readonly string[]) => void;

  beforeAll(async () => {
    world = await open();
    receivers = await startReceivers();
    ({ wake } = await world.start());
  });

  async function subscribed(name: string) {
    const receiver = receivers.at(name);
    return { receiver, ...(await world.subscribe(receiver.url)) };
  }

  test("events arrive signed, with the stored body, one at a time and in order", async () => {
    const { receiver, id, secret } = await subscribed("order");
    const events = await world.publish([id], 50);
    wake([id]);
    const requests = await receiver.received(50);
    expect(requests.map((request) => request.id)).toEqual(events);
    expect(receiver.mostAtOnce()).toBe(1);
    for (const request of requests) expectSigned(request, [secret]);
    expect(requests[0]?.headers["content-type"]).toBe("application/json");
    expect(requests[0]?.headers).not.toHaveProperty("traceparent");
    expect(requests[0]?.body).toContain("Prämie");
    const [first] = await world.until(id, "all deliveries", all("delivered"));
    expect(first).toMatchObject({
      failures: 0,
      takenAt: null,
      attempts: [{ outcome: "delivered", status: 200 }],
    });
    expect(first?.attempts).toHaveLength(1);
  });

  test("a failed delivery waits for its retry, and later ones continue", async () => {
    const { receiver, id } = await subscribed("later");
    const events = await world.publish([id], 5);
    receiver.behave((_n, request) => (request.id === events[1] ? status(500) : ok));
    wake([id]);
    await world.until(
      id,
      "four deliveries",
      (rows) => rows.filter((r) => r.state === "delivered").length === 4,
    );
    const failed = (await world.until(id, "a failure", (rows) => rows[1]?.failures === 1))[1];
    expect(failed).toMatchObject({
      state: "pending",
      takenAt: null,
      attempts: [{ outcome: "refused", status: 500 }],
    });
    expect(failed?.dueIn).toBeGreaterThan(45);
    expect(failed?.dueIn).toBeLessThan(66);
    receiver.behave(ok);
    await world.makeDue(id);
    await world.until(id, "the retry", all("delivered"));
    expect(receiver.requests.filter((request) => request.id === events[1])).toHaveLength(2);
  });

  test("an event of a traced purchase arrives with its traceparent, at the first attempt and at a retry", async () => {
    const { receiver, id } = await subscribed("traced");
    const traceparent = newTrace();
    receiver.behave((n) => (n === 0 ? status(500) : ok));
    await world.publish([id], 1, { traceparent });
    wake([id]);
    await world.until(id, "a failure", (rows) => rows[0]?.failures === 1);
    await world.makeDue(id);
    await world.until(id, "the retry", all("delivered"));
    expect(receiver.requests.map(({ headers }) => headers.traceparent)).toEqual([traceparent, traceparent]);
  });

  test("a retry is made at its time, without a wake-up", async () => {
    const { receiver, id } = await subscribed("in-time");
    receiver.behave((n) => (n === 0 ? status(500) : ok));
    await world.publish([id]);
    await world.until(id, "a failure", (rows) => rows[0]?.failures === 1);
    await world.sql`update service.delivery set next_attempt_at = now() + interval '2 s' where webhook_id = ${id}`;
    await world.until(id, "the retry", all("delivered"));
    expect(receiver.requests).toHaveLength(2);
  });

  if (!others) return;

  test("a delivery without a wake-up is found", async () => {
    const { receiver, id } = await subscribed("found");
    await world.publish([id]);
    await receiver.received(1);
  });

  test("each retry follows the schedule, and the seventh failure is the last", async () => {
    const { receiver, id } = await subscribed("undeliverable");
    receiver.behave(status(503));
    const [first] = await world.publish([id], 1);
    wake([id]);
    const delays: number[] = [];
    for (let failures = 1; failures <= 6; failures += 1) {
      const [row] = await world.until(id, `failure ${failures}`, (rows) => rows[0]?.failures === failures);
      delays.push((row?.dueIn ?? 0) / 60);
      await world.makeDue(id);
    }
    for (const [index, minutes] of [1, 5, 30, 120, 720, 1440].entries()) {
      expect(delays[index]).toBeGreaterThan(minutes * 0.85);
      expect(delays[index]).toBeLessThan(minutes * 1.1);
    }
    const [row] = await world.until(id, "the last failure", (rows) => rows[0]?.state === "undeliverable");
    expect(row?.attempts).toHaveLength(7);
    const [{ seq } = { seq: 0 }] = await world.sql<{ seq: number }[]>`
      select seq::int from service.event where id = ${first ?? ""}`;
    expect(await world.webhook(id)).toEqual({
      state: "undeliverable",
      position: String(seq - 1),
      leased: false,
    });
    // Later events are stored for it, but not sent.
    receiver.forget();
    await world.publish([id], 3);
    const other = await subscribed("meanwhile");
    for (let n = 0; n < 3; n += 1) {
      await world.publish([other.id]);
      wake([id, other.id]);
      await world.until(other.id, "the other subscription's delivery", all("delivered"));
    }
    expect(receiver.requests).toEqual([]);
  });

  test("all pending deliveries become undeliverable with their subscription", async () => {
    const { receiver, id } = await subscribed("all-pending");
    receiver.behave(status(500));
    await world.publish([id], 3);
    await world.until(id, "three failures", (rows) => rows.every((row) => row.failures === 1));
    await world.sql`
      update service.delivery set failures = 6, next_attempt_at = now() where webhook_id = ${id}
        and event_seq = (select min(event_seq) from service.delivery where webhook_id = ${id})`;
    const rows = await world.until(id, "the last failure", all("undeliverable"));
    expect(rows.map((row) => row.failures)).toEqual([7, 1, 1]);
  });

  test("a receiver's Retry-After is respected up to the next step", async () => {
    const { receiver, id } = await subscribed("retry-after");
    const answers = [
      status(429, { "retry-after": "120" }),
      status(503, { "retry-after": "999999" }),
    ] as const;
    receiver.behave(flapping(...answers));
    await world.publish([id]);
    const [first] = await world.until(id, "a failure", (rows) => rows[0]?.failures === 1);
    expect(first?.dueIn).toBeGreaterThan(100);
    expect(first?.dueIn).toBeLessThanOrEqual(120);
    await world.makeDue(id);
    const [second] = await world.until(id, "another failure", (rows) => rows[0]?.failures === 2);
    expect(second?.dueIn).toBeGreaterThan(1700);
    expect(second?.dueIn).toBeLessThanOrEqual(1800);
  });

  test("after a rotation the previous secret signs beside the new one until it expires", async () => {
    const { receiver, id, secret } = await subscribed("rotated");
    const [sealed] = await world.sql<
      { secret: string }[]
    >`select secret from service.webhook where id = ${id}`;
    const next = await world.subscribe(receiver.url);
    await world.sql`
      update service.webhook set previous_secret = ${sealed?.secret ?? ""}, previous_secret_until = now() + interval '1 day',
        secret = (select secret from service.webhook where id = ${next.id}) where id = ${id}`;
    await world.publish([id]);
    const [request] = await receiver.received(1);
    if (request) expectSigned(request, [next.secret, secret]);
    await world.sql`update service.webhook set previous_secret_until = now() - interval '1 s' where id = ${id}`;
    await world.publish([id]);
    const [, after] = await receiver.received(2);
    if (after) expectSigned(after, [next.secret]);
    expect(after?.headers["x-service-signature-previous"]).toBeUndefined();
  });

  test("a reverted event is not sent, and a deleted subscription causes no error", async () => {
    const [reverted, deleted] = [await subscribed("reverted"), await subscribed("deleted")];
    await world.publish([reverted.id]);
    await world.until(reverted.id, "the first delivery", all("delivered"));
    await world.sql.begin(async (tx) => {
      const [event] = await tx<{ seq: string }[]>`
        insert into service.event (chain_id, id, key, type, block_number, parties, body, reverted_at)
        values (31337, 'evt_gone', 'gone', 'token_burned', 1, '{}', '{}', now()) returning seq::text`;
      await tx`insert into service.delivery (webhook_id, event_seq) values (${reverted.id}, ${event?.seq ?? ""})`;
    });
    wake([reverted.id]);
    await world.until(reverted.id, "the cancelled delivery", (rows) => rows[1]?.state === "cancelled");
    expect(reverted.receiver.requests).toHaveLength(1);

    await world.publish([deleted.id], 30);
    wake([deleted.id]);
    await deleted.receiver.received(1);
    await world.sql`delete from service.webhook where id = ${deleted.id}`;
    const { receiver, id } = await subscribed("after-the-deleted");
    await world.publish([id]);
    wake([id]);
    await receiver.received(1);
  });

  test("a test call is made once, apart from events and without retries", async () => {
    const { receiver, id, secret } = await subscribed("test");
    receiver.behave(flapping(ok, status(500)));
    for (const [n, state] of ["delivered", "undeliverable"].entries()) {
      await world.publish([id], 1, { test: true });
      const rows = await world.until(id, "the outcome of the test call", (now) => now[n]?.state === state);
      expect(rows[n]?.attempts).toHaveLength(1);
    }
    const requests = await receiver.received(2);
    for (const request of requests) expectSigned(request, [secret]);
    expect(await world.webhook(id)).toMatchObject({ state: "active" });
  });

  test("a hanging receiver does not delay others", async () => {
    const slow = await subscribed("slow");
    slow.receiver.behave(hang);
    await world.publish([slow.id], 3);
    wake([slow.id]);
    await slow.receiver.received(1);
    const { receiver, id } = await subscribed("quick");
    await world.publish([id], 20);
    wake([id]);
    const before = Date.now();
    await receiver.received(20);
    expect(Date.now() - before).toBeLessThan(8000);
    const [timeout] = await world.until(slow.id, "the timeout", (rows) => rows[0]?.failures === 1);
    expect(timeout?.attempts).toMatchObject([{ outcome: "timeout", status: null, response: null }]);
    expect(timeout?.attempts[0]?.durationMs).toBeGreaterThanOrEqual(9_900);
    expect(timeout?.attempts[0]?.durationMs).toBeLessThan(20_000);
  });
}

describe("deliveries, the queue on Postgres", () => deliveryTests(() => openDeliveries(), { others: true }));

describeWithRedis("deliveries, the queue on Redis", () =>
  deliveryTests(async () => openDeliveries((await freshRedis()).url)),
);
