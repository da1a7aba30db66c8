/**
 * What this proves: a deleted subscription gets no call any more, what is under way for it ends without an error and brings
 * nothing back, and all that is left of it is removed in rounds that keep nobody waiting.
 */
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { beforeAll, expect, test } from "vitest";
import { deleteWebhook } from "../../api/webhooks/store.ts";
import { connect } from "../../lib/db/connect.ts";
import type { Attempt } from "../../lib/webhooks/attempt.ts";
import { claim, handBack, release } from "../../workers/webhooks/claim.ts";
import { prune } from "../../workers/webhooks/prune.ts";
import { type Settlement, settle } from "../../workers/webhooks/settle.ts";
import { atEnd } from "../support/cleanup.ts";
import { type Receivers, slow, startReceivers } from "../support/receiver.ts";
import { all, CHAIN, type Deliveries, openDeliveries, WALLET } from "./support/deliveries.ts";

let world: Deliveries;
let receivers: Receivers;
let remove: (id: string) => Promise<boolean>;

beforeAll(async () => {
  world = await openDeliveries();
  receivers = await startReceivers();
  const { db, close } = connect(world.databaseUrl, { name: "api", max: 1 });
  atEnd(close);
  remove = (id) => deleteWebhook(db, { chain: CHAIN, wallet: WALLET }, Number(id));
});

const writer = { chainId: CHAIN, token: randomUUID() };
const refused: Attempt = {
  ...{ at: new Date().toISOString(), durationMs: 1, outcome: "refused", status: 500 },
  ...{ error: "answered 500", response: "" },
};

test("a deleted subscription is not called any more; what is under way for it ends as it would", async () => {
  const [gone, going, there] = ["gone", "going", "there"].map((name) => receivers.at(name));
  if (!gone || !going || !there) throw new Error("no receivers");
  const hooks = await Promise.all([gone, going, there].map(({ url }) => world.subscribe(url)));
  const [goneId, goingId, thereId] = hooks.map(({ id }) => id);
  if (!goneId || !goingId || !thereId) throw new Error("no subscriptions");
  going.behave(slow(900));
  await world.publish([goneId, thereId], 3);
  await world.publish([goingId], 1);
  await world.publish([goneId], 1, { test: true });
  expect(await remove(goneId)).toBe(true);
  expect(await remove(goneId)).toBe(false);
  const complaints: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => complaints.push(line) });
  const delivery = await world.start({ log });
  await going.received(1);
  expect(await remove(goingId)).toBe(true);
  delivery.wake([goneId, goingId, thereId]);
  await world.until(thereId, "the others' events to arrive", all("delivered"));
  await expect.poll(() => going.underWay()).toBe(0);
  // The sweeper looks for what is due again and again: it finds what nobody was woken for.
  for (let n = 0; n < 2; n += 1) {
    await world.publish([thereId]);
    await world.until(thereId, "what nobody was woken for", all("delivered"));
  }
  await delivery.stop();
  expect([gone.requests.length, going.requests.length, there.requests.length]).toEqual([0, 1, 5]);
  expect(complaints).toEqual([]);
});

test("an attempt that was the last one, and a writer that gives back, do not bring it back", async () => {
  const { id } = await world.subscribe(receivers.at("last").url);
  await world.publish([id], 2);
  await world.sql`update service.delivery set failures = 6 where webhook_id = ${id}`;
  const turn = (await claim(world.sql, writer, [id])).get(id);
  const [last, unsent] = turn?.deliveries ?? [];
  if (!last || !unsent) throw new Error("nothing was claimed");
  await remove(id);
  const settlement: Settlement = {
    ...{ webhookId: id, deliveryId: last.id, takenAt: last.takenAt },
    ...{ attempt: refused, kind: "exhausted" },
  };
  await settle(world.sql, [settlement]);
  await handBack(world.sql, [unsent]);
  expect(await release(world.sql, writer, [id])).toEqual(new Map());
  expect(await world.webhook(id)).toMatchObject({ state: "deleted", position: null, leased: false });
  expect((await claim(world.sql, writer, [id])).size).toBe(0);
});

test("what is left is removed in rounds, and what is not deleted stays", async () => {
  const { sql } = world;
  const [many, kept] = [
    await world.subscribe("http://127.0.0.1:9/"),
    await world.subscribe("http://127.0.0.1:9/"),
  ];
  await world.publish([many.id], 4500);
  await world.publish([many.id, kept.id], 500);
  await remove(many.id);
  const left = async () => {
    const [row] = await sql<{ deliveries: number; webhooks: number }[]>`
      select (select count(*)::int from service.delivery d join service.webhook w on w.id = d.webhook_id
          where w.state = 'deleted') as deliveries,
        (select count(*)::int from service.webhook where state = 'deleted') as webhooks`;
    return row;
  };
  // What the tests before have left goes first; a writer that stops leaves the rest to the next one.
  const before = (await left())?.deliveries ?? 0;
  expect(before).toBeGreaterThanOrEqual(5000);
  let asked = 0;
  const stopping = () => {
    asked += 1;
    return asked > 1;
  };
  await prune(sql, { chainId: CHAIN, stopping });
  const after = (await left())?.deliveries ?? 0;
  expect(before - after).toBeGreaterThan(0);
  expect(before - after).toBeLessThanOrEqual(2000);
  await prune(sql, { chainId: CHAIN });
  expect(await left()).toEqual({ deliveries: 0, webhooks: 0 });
  expect(await world.webhook(many.id)).toBeUndefined();
  expect(await world.deliveries(kept.id)).toHaveLength(500);
  const late: Settlement = {
    ...{ webhookId: many.id, deliveryId: "1", takenAt: new Date().toISOString() },
    ...{ attempt: refused, kind: "exhausted" },
  };
  await settle(sql, [late]);
});
