/**
 * What this proves: receivers that answer just within the limits, and any number of hanging ones on one host, do not delay
 * other hosts, and delay others on the same host only by waiting.
 */
import { afterEach, beforeAll, expect, test } from "vitest";
import {
  hang,
  type Receiver,
  type Receivers,
  type Reply,
  slow,
  startReceivers,
} from "../support/receiver.ts";
import { all, type Deliveries, openDeliveries, WALLET } from "./support/deliveries.ts";

let world: Deliveries;
/** Each has its own host and port. */
let slowHost: Receivers;
let otherHost: Receivers;

beforeAll(async () => {
  world = await openDeliveries();
  [slowHost, otherHost] = await Promise.all([startReceivers(), startReceivers()]);
});

afterEach(async () => {
  await world.sql`delete from service.webhook`;
});

type Subscribed = { readonly id: string; readonly receiver: Receiver };

async function subscribe(
  receivers: Receivers,
  count: number,
  name: string,
  reply?: Reply,
): Promise<Subscribed[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const receiver = receivers.at(`${name}-${n}`);
      if (reply) receiver.behave(reply);
      return { receiver, ...(await world.subscribe(receiver.url)) };
    }),
  );
}

const idsOf = (some: readonly Subscribed[]) => some.map(({ id }) => id);
const requestCount = (some: readonly Subscribed[]) =>
  some.flatMap(({ receiver }) => receiver.requests).length;

/** The calls that were over when the last request of `later` arrived. */
const overBefore = (later: Receiver, { requests }: Receiver) =>
  requests.filter(({ overAt }) => overAt !== null && overAt < (later.requests.at(-1)?.at ?? 0)).length;

/**
 * Starts slow subscriptions, then wakes one of another host.
 * @returns the most calls of one slow subscription that were over before that one had its event
 */
async function slowCallsBeforeOtherHost(
  concurrency: number,
  slowOnes: readonly Subscribed[],
  events: number,
): Promise<number> {
  const [other] = await subscribe(otherHost, 1, `other-${concurrency}`);
  if (!other) throw new Error("no subscription");
  await world.publish(idsOf(slowOnes), events);
  const writer = await world.start({ config: { WEBHOOK_CONCURRENCY: concurrency } });
  writer.wake(idsOf(slowOnes));
  await slowOnes[0]?.receiver.received(1);
  await world.publish([other.id]);
  writer.wake([other.id]);
  await other.receiver.received(1);
  await writer.stop();
  return Math.max(...slowOnes.map(({ receiver }) => overBefore(other.receiver, receiver)));
}

test("more backlogs at 900 ms a call than slots delay another host by part of one call", async () => {
  const slowOnes = await subscribe(slowHost, 60, "backlog", slow(900));
  // Of each backlog's 20 calls.
  expect(await slowCallsBeforeOtherHost(40, slowOnes, 20)).toBeLessThan(10);
  // Each released its slot early many times, and still had one call at a time.
  for (const { receiver } of slowOnes) expect(receiver.mostAtOnce()).toBeLessThanOrEqual(1);
});

test("a thousand subscriptions of one host at nine seconds a call do not delay another host", async () => {
  const slowOnes = await subscribe(slowHost, 1000, "thousand", slow(9000));
  expect(await slowCallsBeforeOtherHost(400, slowOnes, 1)).toBe(0);
});

test("a backlog that releases its slots early continues in order, with each event once", async () => {
  const [one] = await subscribe(slowHost, 1, "goes-on", slow(200));
  const events = await world.publish([one?.id ?? ""], 12);
  const writer = await world.start();
  writer.wake([one?.id ?? ""]);
  await world.until(one?.id ?? "", "all to be delivered", all("delivered"));
  expect(one?.receiver.requests.map(({ id }) => id)).toEqual(events);
  expect(one?.receiver.mostAtOnce()).toBe(1);
  await writer.stop();
});

test("a host's other receivers are called despite a thousand hanging ones, without failures", async () => {
  const hanging = await subscribe(slowHost, 1000, "hangs", hang);
  const good = await subscribe(slowHost, 20, "works");
  await world.publish(idsOf(hanging));
  const answerMs = 6000;
  const writer = await world.start({ config: { WEBHOOK_CONCURRENCY: 400 }, answerMs });
  writer.wake(idsOf(hanging));
  await expect.poll(() => requestCount(hanging)).toBeGreaterThan(300);
  const events = await world.publish(idsOf(good), 2);
  writer.wake(idsOf(good));
  for (const { id, receiver } of good) {
    const rows = await world.until(id, "all to be delivered", all("delivered"));
    for (const attempt of rows.flatMap(({ attempts }) => attempts)) {
      expect(attempt.outcome).toBe("delivered");
      // The time limit of the answer does not include waiting for a connection.
      expect(attempt.durationMs).toBeLessThan(answerMs);
    }
    expect(receiver.requests.map((request) => request.id)).toEqual(events);
  }
  const attempts = await world.sql<{ id: string; count: number }[]>`
    select webhook_id::text as id, jsonb_array_length(attempts) as count from service.delivery`;
  const counts = new Map(attempts.map(({ id, count }) => [id, count]));
  for (const { id, receiver } of hanging) {
    // Every timeout belongs to a request that was sent.
    expect(counts.get(id)).toBeLessThanOrEqual(receiver.requests.length);
  }
  await writer.stop();
});

test("hanging test calls of one wallet do not delay another wallet's", async () => {
  const [hanging] = await subscribe(slowHost, 1, "hanging-tests", hang);
  const receiver = otherHost.at("tested");
  const other = await world.subscribe(receiver.url, `${WALLET.slice(0, -1)}b`);
  await world.publish([hanging?.id ?? ""], 60, { test: true });
  const writer = await world.start();
  await hanging?.receiver.received(2);
  await world.publish([other.id], 1, { test: true });
  await world.until(other.id, "the other wallet's test call", all("delivered"));
  if (!hanging) throw new Error("no subscription");
  expect(overBefore(receiver, hanging.receiver)).toBe(0);
  expect(hanging.receiver.requests.length).toBeLessThanOrEqual(20);
  await writer.stop();
});
