/**
 * What this proves: a deleted subscription gets no further calls, its call in flight ends without an error and without
 * restoring it, and its rows are removed in short rounds.
 */
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { beforeAll, expect, test } from "vitest";
import { deleteWebhook } from "../../api/webhooks/store.ts";
import { asApi } from "../../lib/db/api-role.ts";
import { connect } from "../../lib/db/connect.ts";
import {
  claimDeliveries,
  releaseLeases,
  unclaimDeliveries,
} from "../../workers/webhooks/claim-deliveries.ts";
import { prune } from "../../workers/webhooks/prune.ts";
import { type LastFailure, makeUndeliverable } from "../../workers/webhooks/settle-deliveries.ts";
import { atEnd } from "../support/cleanup.ts";
import { type Receivers, slow, startReceivers } from "../support/receiver.ts";
import { all, CHAIN, type Deliveries, openDeliveries, refusedAttempt, WALLET } from "./support/deliveries.ts";

let world: Deliveries;
let receivers: Receivers;
let remove: (id: string) => Promise<boolean>;

beforeAll(async () => {
  world = await openDeliveries();
  receivers = await startReceivers();
  const { sql, close } = connect(asApi(world.databaseUrl), { name: "api", max: 1 });
  atEnd(close);
  remove = (id) => deleteWebhook(sql, { chain: CHAIN, wallet: WALLET }, Number(id));
});

const writer = { chainId: CHAIN, token: randomUUID() };

test("a deleted subscription is not called, and its call in flight ends normally", async () => {
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
  const warnings: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => warnings.push(line) });
  const delivery = await world.start({ log });
  await going.received(1);
  expect(await remove(goingId)).toBe(true);
  delivery.wake([goneId, goingId, thereId]);
  await world.until(thereId, "the other subscription's deliveries", all("delivered"));
  await expect.poll(() => going.underWay()).toBe(0);
  // Two sweeps: each finds deliveries without a wake-up.
  for (let n = 0; n < 2; n += 1) {
    await world.publish([thereId]);
    await world.until(thereId, "a delivery without a wake-up", all("delivered"));
  }
  await delivery.stop();
  expect([gone.requests.length, going.requests.length, there.requests.length]).toEqual([0, 1, 5]);
  expect(warnings).toEqual([]);
});

test("neither the last attempt nor a returned delivery restores it", async () => {
  const { id } = await world.subscribe(receivers.at("last").url);
  await world.publish([id], 2);
  await world.sql`update service.delivery set failures = 6 where webhook_id = ${id}`;
  const batch = (await claimDeliveries(world.sql, writer, [id])).get(id);
  const [last, unsent] = batch?.deliveries ?? [];
  if (!last || !unsent) throw new Error("nothing was claimed");
  await remove(id);
  const settlement: LastFailure = {
    ...{ webhookId: id, deliveryId: last.id, takenAt: last.takenAt },
    ...{ attempt: refusedAttempt, kind: "exhausted" },
  };
  await world.sql.begin((tx) => makeUndeliverable(tx, settlement));
  await unclaimDeliveries(world.sql, [unsent]);
  expect(await releaseLeases(world.sql, writer, [id])).toEqual(new Map());
  expect(await world.webhook(id)).toMatchObject({ state: "deleted", position: null, leased: false });
  expect((await claimDeliveries(world.sql, writer, [id])).size).toBe(0);
});

test("its rows are removed in rounds, and other subscriptions stay", async () => {
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
  // Rows of earlier tests are removed first. A writer that stops leaves the rest to the next one.
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
  const late: LastFailure = {
    ...{ webhookId: many.id, deliveryId: "1", takenAt: new Date().toISOString() },
    ...{ attempt: refusedAttempt, kind: "exhausted" },
  };
  await sql.begin((tx) => makeUndeliverable(tx, late));
});
