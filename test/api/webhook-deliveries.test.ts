/** The owner lists a webhook's deliveries, replays one of them or all, re-enables the webhook, and deletes it. No writer runs here. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Connection } from "../../lib/db/connect.ts";
import { failure, invalidFields, messageOf, type TestApi } from "./support/api.ts";
import { webhookDeletions } from "./support/webhook-deletions.ts";
import {
  attempt,
  createWebhook,
  type Delivery,
  LOCAL_URL,
  startWebhookApi,
  type Webhook,
} from "./support/webhook-fixture.ts";
import { replayCalls } from "./support/webhook-replay-calls.ts";
import { retryCalls } from "./support/webhook-retry-calls.ts";
import { revertEvent } from "./support/webhooks.ts";

let api: TestApi;
let connection: Connection;
beforeAll(async () => {
  ({ api, connection } = await startWebhookApi());
});

let webhook: Webhook;
beforeEach(async () => {
  webhook = await createWebhook(api, connection);
});

describe("GET /api/v1/webhooks/{id}/deliveries", () => {
  const page = z.object({
    nextCursor: z.string().nullable(),
    deliveries: z.array(z.looseObject({ id: z.number(), state: z.string() })),
  });
  const list = async (query = "") =>
    page.parse((await webhook.owner.call("GET", `/${webhook.id}/deliveries${query}`)).json);

  test("lists each delivery with its state, newest first", async () => {
    const ids = [
      await webhook.addDelivery(await webhook.addEvent(), {}),
      await webhook.addDelivery(await webhook.addEvent(), { state: "pending", failures: 2, inHours: 1 }),
      await webhook.addDelivery(await webhook.addEvent(), { state: "pending", failures: 2, taken: true }),
      await webhook.addDelivery(await webhook.addEvent(), { state: "pending" }),
      await webhook.addDelivery(await webhook.addEvent(), { state: "undeliverable", failures: 7 }),
      await webhook.addDelivery(await webhook.addEvent(), { state: "cancelled" }),
    ];
    const expected = [
      "delivered",
      "retry_scheduled",
      "delivering",
      "delivering",
      "undeliverable",
      "cancelled",
    ];
    const { deliveries, nextCursor } = await list();
    expect(deliveries.map((delivery) => [delivery.id, delivery.state]).reverse()).toEqual(
      ids.map((each, index) => [each, expected[index]]),
    );
    expect(nextCursor).toBeNull();
    expect(deliveries.at(-1)).toMatchObject({
      ...{ eventType: "policy_purchased", test: false, attempts: [attempt], nextAttemptAt: null },
      ...{ eventId: expect.stringMatching(/^evt_/), deliveredAt: expect.any(String) },
    });
    expect(deliveries.at(-2)).toMatchObject({ nextAttemptAt: expect.any(String), deliveredAt: null });
    for (const state of new Set(expected)) {
      expect((await list(`?state=${state}`)).deliveries.map((delivery) => delivery.state)).toEqual(
        expected.filter((each) => each === state),
      );
    }
  });

  test("the flat view has one row for each delivery, in the same order and pages", async () => {
    await webhook.addDelivery(await webhook.addEvent());
    const id = await webhook.addDelivery(await webhook.addEvent(), {
      ...{ state: "pending", failures: 1, inHours: 1 },
    });
    const flat = z.object({ nextCursor: z.string().nullable(), deliveries: z.array(z.unknown()) });
    const read = async (query: string) =>
      flat.parse((await webhook.owner.call("GET", `/${webhook.id}/deliveries${query}`)).json);
    const full = (await list()).deliveries;
    const { deliveries } = await read("?view=flat");
    expect(deliveries).toEqual(
      full.map(({ eventType, state, attempts: _, test: _test, ...same }) => ({
        ...same,
        ...{ event: eventType, status: state, attempts: 1, responseCode: attempt.status },
      })),
    );
    const { nextCursor, ...page } = await read("?view=flat&state=retry_scheduled&limit=1");
    expect([nextCursor, page.deliveries]).toEqual([null, [expect.objectContaining({ id })]]);
    expect((await read("?view=full")).deliveries).toEqual(full);
  });

  test("pages by cursor do not shift when a delivery is added", async () => {
    const ids = [
      await webhook.addDelivery(await webhook.addEvent()),
      await webhook.addDelivery(await webhook.addEvent()),
      await webhook.addDelivery(await webhook.addEvent()),
    ];
    const first = await list("?limit=2");
    expect(first.deliveries.map((delivery) => delivery.id)).toEqual([ids[2], ids[1]]);
    await webhook.addDelivery(await webhook.addEvent());
    const second = await list(`?limit=2&cursor=${first.nextCursor}`);
    expect(second).toMatchObject({ nextCursor: null, deliveries: [{ id: ids[0] }] });
    expect((await list("?limit=1&offset=3")).deliveries).toMatchObject([{ id: ids[0] }]);
  });

  test.each([
    ["?limit=0", "limit"],
    ["?limit=101", "limit"],
    ["?limit=1e1", "limit"],
    ["?offset=-1", "offset"],
    ["?cursor=x", "cursor"],
    ["?cursor=3&offset=1", "offset"],
    ["?state=pending", "state"],
    ["?view=short", "view"],
  ])("%s gets 400 with the parameter's name", async (query, field) => {
    const answer = await webhook.owner.call("GET", `/${webhook.id}/deliveries${query}`);
    expect([failure(answer), invalidFields(answer)]).toEqual([[400, "validation_error"], [field]]);
  });
});

describe("POST /api/v1/webhooks/{id}/deliveries/{deliveryId}/replay", () => {
  const replay = (delivery: number | string) =>
    webhook.owner.call("POST", `/${webhook.id}/deliveries/${delivery}/replay`);

  test.each<Delivery>([
    {},
    { state: "pending", failures: 3, inHours: 2 },
    { state: "undeliverable", failures: 7, inHours: 24 },
  ])("schedules the delivery again without failures: %j", async (sent) => {
    const delivery = await webhook.addDelivery(await webhook.addEvent(), sent);
    const answer = await replay(delivery);
    expect(answer.status).toBe(202);
    const again = { id: delivery, state: "delivering", attempts: [attempt], nextAttemptAt: null };
    expect(answer.json).toMatchObject({ ok: true, id: webhook.id, delivery: again });
    expect(await webhook.deliveries()).toMatchObject([
      { state: "pending", failures: 0, attempts: 1, due: true },
    ]);
    expect((await replay(delivery)).status).toBe(202);
    expect(await webhook.deliveries()).toHaveLength(1);
  });

  test("an attempt under way continues", async () => {
    const delivery = await webhook.addDelivery(await webhook.addEvent(), {
      state: "pending",
      failures: 3,
      taken: true,
    });
    expect((await replay(delivery)).status).toBe(202);
    expect(await webhook.deliveries()).toMatchObject([{ state: "pending", failures: 3 }]);
  });

  test("refuses a reverted event, an undeliverable webhook, a test call and an unknown delivery", async () => {
    const made = await webhook.addEvent();
    const delivery = await webhook.addDelivery(made);
    await revertEvent(connection, made);
    expect(failure(await replay(delivery))).toEqual([409, "event_reverted"]);
    expect(await webhook.deliveryStates()).toEqual(["delivered"]);
    const sample = await webhook.addDelivery(await webhook.addEvent(), { test: true });
    expect(failure(await replay(sample))).toEqual([404, "delivery_not_found"]);
    expect(messageOf(await replay(sample))).toContain("test");
    expect(failure(await replay(999_999))).toEqual([404, "delivery_not_found"]);
    expect(failure(await replay("x"))).toEqual([400, "validation_error"]);

    const other = await webhook.owner.subscribe(LOCAL_URL);
    const elsewhere = await webhook.owner.call("POST", `/${other.id}/deliveries/${delivery}/replay`);
    expect(failure(elsewhere)).toEqual([404, "delivery_not_found"]);

    const good = await webhook.addDelivery(await webhook.addEvent());
    await webhook.markUndeliverable(0);
    const answer = await replay(good);
    expect(failure(answer)).toEqual([409, "webhook_undeliverable"]);
    expect(messageOf(answer)).toContain(`/api/v1/webhooks/${webhook.id}/retry`);
  });
});

const own = { webhook: () => webhook, connection: () => connection };
replayCalls(own);
retryCalls(own);
describe("DELETE /api/v1/webhooks/{id}", () => webhookDeletions(own));
