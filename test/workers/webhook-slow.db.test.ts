/**
 * What this proves: receivers that take just under any limit, and any number that hang at one host, cost the others
 * nothing: neither at other hosts nor, but for the wait, at the same one.
 */
import { afterEach, beforeAll, expect, test } from "vitest";
import { DEV_SECRETS_KEY } from "../../lib/config.ts";
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
/** A host and port each. */
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
  const some: Subscribed[] = [];
  for (let n = 0; n < count; n += 1) {
    const receiver = receivers.at(`${name}-${n}`);
    if (reply) receiver.behave(reply);
    some.push({ receiver, ...(await world.subscribe(receiver.url)) });
  }
  return some;
}

const idsOf = (some: readonly Subscribed[]) => some.map(({ id }) => id);
const arrived = (some: readonly Subscribed[]) => some.flatMap(({ receiver }) => receiver.requests).length;

const withPlaces = (concurrency: number) => ({
  config: {
    DATABASE_URL: world.databaseUrl,
    REDIS_URL: undefined,
    SECRETS_KEY: DEV_SECRETS_KEY,
    WEBHOOK_CONCURRENCY: concurrency,
  },
});

/** Lets slow subscriptions go first, then wakes one of another host. @returns ms until that one has its event */
async function waitOfAnother(
  places: number,
  lagging: readonly Subscribed[],
  events: number,
): Promise<number> {
  const [honest] = await subscribe(otherHost, 1, `honest-${places}`);
  if (!honest) throw new Error("nobody was subscribed");
  await world.publish(idsOf(lagging), events);
  const writer = await world.start(withPlaces(places));
  writer.wake(idsOf(lagging));
  await lagging[0]?.receiver.received(1);
  await world.publish([honest.id]);
  const began = Date.now();
  writer.wake([honest.id]);
  await honest.receiver.received(1);
  const waited = Date.now() - began;
  await writer.stop();
  return waited;
}

test("more backlogs at 900 ms a call than there are places: another one waits for a part of one call", async () => {
  const lagging = await subscribe(slowHost, 60, "backlog", slow(900));
  // All of their calls take 18 s and more.
  expect(await waitOfAnother(40, lagging, 20)).toBeLessThan(9000);
  // None of them was called twice at once, although each gave its place up again and again.
  for (const { receiver } of lagging) expect(receiver.mostAtOnce()).toBeLessThanOrEqual(1);
});

test("a thousand subscriptions of one host at 900 ms a call: another host does not notice", async () => {
  const lagging = await subscribe(slowHost, 1000, "thousand", slow(900));
  expect(await waitOfAnother(400, lagging, 1)).toBeLessThan(2500);
});

test("a backlog that gives its place up goes on, in order and with each event once", async () => {
  const [one] = await subscribe(slowHost, 1, "goes-on", slow(200));
  const events = await world.publish([one?.id ?? ""], 12);
  const writer = await world.start();
  writer.wake([one?.id ?? ""]);
  await world.until(one?.id ?? "", "all to be delivered", all("delivered"));
  expect(one?.receiver.requests.map(({ id }) => id)).toEqual(events);
  expect(one?.receiver.mostAtOnce()).toBe(1);
  await writer.stop();
});

test("however many paths of a host hang, its others are called in the end, and nothing counts as their failure", async () => {
  const hanging = await subscribe(slowHost, 1000, "hangs", hang);
  const good = await subscribe(slowHost, 20, "works");
  await world.publish(idsOf(hanging));
  const writer = await world.start({ ...withPlaces(400), answerMs: 6000 });
  writer.wake(idsOf(hanging));
  await expect.poll(() => arrived(hanging)).toBeGreaterThan(300);
  const events = await world.publish(idsOf(good), 2);
  writer.wake(idsOf(good));
  for (const { id, receiver } of good) {
    const rows = await world.until(id, "all to be delivered", all("delivered"));
    for (const attempt of rows.flatMap(({ attempts }) => attempts)) {
      expect(attempt.outcome).toBe("delivered");
      // Its time for an answer was not spent on waiting for a connection that others held.
      expect(attempt.durationMs).toBeLessThan(5000);
    }
    expect(receiver.requests.map((request) => request.id)).toEqual(events);
  }
  for (const { id, receiver } of hanging) {
    const [row] = await world.deliveries(id);
    // Whoever is said not to have answered was asked.
    expect(row?.attempts.length ?? 0).toBeLessThanOrEqual(receiver.requests.length);
  }
  await writer.stop();
});

test("one wallet's test calls that hang keep no other wallet's waiting", async () => {
  const [hanging] = await subscribe(slowHost, 1, "hanging-tests", hang);
  const receiver = otherHost.at("tested");
  const other = await world.subscribe(receiver.url, `${WALLET.slice(0, -1)}b`);
  await world.publish([hanging?.id ?? ""], 60, { test: true });
  const writer = await world.start();
  await hanging?.receiver.received(2);
  const began = Date.now();
  await world.publish([other.id], 1, { test: true });
  await world.until(other.id, "the other wallet's test call", all("delivered"));
  // Less than one call that hangs takes.
  expect(Date.now() - began).toBeLessThan(8000);
  expect(hanging?.receiver.requests.length).toBeLessThanOrEqual(20);
  await writer.stop();
});
