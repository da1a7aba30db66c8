/** The deliveries of a webhook, as its owner sees them, and one of them once more. No writer runs here. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Connection } from "../../lib/db/connect.ts";
import { failure, faultyFields, messageOf, type TestApi } from "./support/api.ts";
import { attempt, type Desk, newDesk, type Sent, startWebhookApi, URL_HERE } from "./support/webhook-desk.ts";
import { revertEvent } from "./support/webhooks.ts";

let api: TestApi;
let connection: Connection;
beforeAll(async () => {
  ({ api, connection } = await startWebhookApi());
});

let desk: Desk;
beforeEach(async () => {
  desk = await newDesk(api, connection);
});

describe("the deliveries of a webhook", () => {
  const page = z.object({
    nextCursor: z.string().nullable(),
    deliveries: z.array(z.looseObject({ id: z.number(), state: z.string() })),
  });
  const list = async (query = "") =>
    page.parse((await desk.owner.call("GET", `/${desk.id}/deliveries${query}`)).json);

  test("are told as a client sees them, newest first", async () => {
    const ids = [
      await desk.deliver(await desk.event(), {}),
      await desk.deliver(await desk.event(), { state: "pending", failures: 2, inHours: 1 }),
      await desk.deliver(await desk.event(), { state: "pending", failures: 2, taken: true }),
      await desk.deliver(await desk.event(), { state: "pending" }),
      await desk.deliver(await desk.event(), { state: "undeliverable", failures: 7 }),
      await desk.deliver(await desk.event(), { state: "cancelled" }),
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

  test("come in pages that new ones do not shift", async () => {
    const ids = [
      await desk.deliver(await desk.event()),
      await desk.deliver(await desk.event()),
      await desk.deliver(await desk.event()),
    ];
    const first = await list("?limit=2");
    expect(first.deliveries.map((delivery) => delivery.id)).toEqual([ids[2], ids[1]]);
    await desk.deliver(await desk.event());
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
  ])("asked for with %s are 400", async (query, field) => {
    const answer = await desk.owner.call("GET", `/${desk.id}/deliveries${query}`);
    expect([failure(answer), faultyFields(answer)]).toEqual([[400, "validation_error"], [field]]);
  });
});

describe("one delivery once more", () => {
  const replay = (delivery: number | string) =>
    desk.owner.call("POST", `/${desk.id}/deliveries/${delivery}/replay`);

  test.each<Sent>([
    {},
    { state: "pending", failures: 3, inHours: 2 },
    { state: "undeliverable", failures: 7, inHours: 24 },
  ])("is scheduled from the beginning: %j", async (sent) => {
    const delivery = await desk.deliver(await desk.event(), sent);
    const answer = await replay(delivery);
    expect(answer.status).toBe(202);
    const again = { id: delivery, state: "delivering", attempts: [attempt], nextAttemptAt: null };
    expect(answer.json).toMatchObject({ ok: true, id: desk.id, delivery: again });
    expect(await desk.rows()).toMatchObject([{ state: "pending", failures: 0, attempts: 1, due: true }]);
    expect((await replay(delivery)).status).toBe(202);
    expect(await desk.rows()).toHaveLength(1);
  });

  test("that is under way goes on", async () => {
    const delivery = await desk.deliver(await desk.event(), { state: "pending", failures: 3, taken: true });
    expect((await replay(delivery)).status).toBe(202);
    expect(await desk.rows()).toMatchObject([{ state: "pending", failures: 3 }]);
  });

  test("is refused for a reverted event, while undeliverable, for a test, and where there is none", async () => {
    const made = await desk.event();
    const delivery = await desk.deliver(made);
    await revertEvent(connection, made);
    expect(failure(await replay(delivery))).toEqual([409, "event_reverted"]);
    expect(await desk.states()).toEqual(["delivered"]);
    const sample = await desk.deliver(await desk.event(), { test: true });
    expect(failure(await replay(sample))).toEqual([404, "delivery_not_found"]);
    expect(messageOf(await replay(sample))).toContain("test");
    expect(failure(await replay(999_999))).toEqual([404, "delivery_not_found"]);
    expect(failure(await replay("x"))).toEqual([400, "validation_error"]);

    const other = await desk.owner.subscribe(URL_HERE);
    const elsewhere = await desk.owner.call("POST", `/${other.id}/deliveries/${delivery}/replay`);
    expect(failure(elsewhere)).toEqual([404, "delivery_not_found"]);

    const good = await desk.deliver(await desk.event());
    await desk.giveUp(0);
    const answer = await replay(good);
    expect(failure(answer)).toEqual([409, "webhook_undeliverable"]);
    expect(messageOf(answer)).toContain(`/api/v1/webhooks/${desk.id}/retry`);
  });
});
