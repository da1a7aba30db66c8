/** Deleting a webhook takes effect at once, whatever is under way for it. */
import { expect, test } from "vitest";
import { mayRest } from "../../support/database.ts";
import { failure } from "./api.ts";
import { addEvents, type WebhookTest } from "./webhook-fixture.ts";
import { callsForWebhook } from "./webhooks.ts";

export function webhookDeletions({ webhook, connection }: WebhookTest): void {
  const remove = () => webhook().owner.call("DELETE", `/${webhook().id}`);

  test("every call for a deleted webhook gets 404, and its secrets are erased", async () => {
    const { sql } = connection();
    const delivery = await webhook().addDelivery(await webhook().addEvent());
    await webhook().owner.call("POST", `/${webhook().id}/rotate-secret`);
    await webhook().markUndeliverable(0);
    expect((await remove()).status).toBe(200);
    for (const [method, path] of callsForWebhook(delivery)) {
      const answer = await webhook().owner.call(method, `/${webhook().id}${path}`);
      expect([path, failure(answer)]).toEqual([path, [404, "webhook_not_found"]]);
    }
    expect((await webhook().owner.call("GET")).json).toMatchObject({ total: 0, webhooks: [] });
    const [row] = await sql`
    select state, secret, previous_secret, previous_secret_until, position, undeliverable_at
    from service.webhook where id = ${webhook().id}`;
    expect(row).toEqual({
      ...{ state: "deleted", secret: "", previous_secret: null, previous_secret_until: null },
      ...{ position: null, undeliverable_at: null },
    });
    expect(await webhook().deliveryStates()).toEqual(["delivered"]);
  });

  test("a deletion does not wait for transactions that lock the webhook's deliveries", async () => {
    const { sql } = connection();
    await addEvents(connection(), webhook(), "held-", 20_000);
    await sql`insert into service.delivery (webhook_id, event_seq) select ${webhook().id}, seq from service.event`;
    await sql.begin(async (tx) => {
      await mayRest(tx);
      // The locks of the outbox and of a writer.
      await tx`select 1 from service.webhook where id = ${webhook().id} for key share`;
      await tx`select 1 from service.delivery where webhook_id = ${webhook().id} for update`;
      expect((await remove()).status).toBe(200);
      expect(failure(await webhook().owner.call("GET", `/${webhook().id}`))).toEqual([
        404,
        "webhook_not_found",
      ]);
    });
    expect(await webhook().deliveryStates()).toHaveLength(20_000);
  });

  test("a deletion ends a test call that waits for its result", async () => {
    const began = performance.now();
    const answer = webhook().owner.call("POST", `/${webhook().id}/test`);
    await expect
      .poll(() =>
        webhook()
          .deliveries()
          .then((rows) => rows.length),
      )
      .toBe(1);
    expect((await remove()).status).toBe(200);
    expect(failure(await answer)).toEqual([404, "webhook_not_found"]);
    expect(performance.now() - began).toBeLessThan(12_000);
  });

  test("of ten simultaneous deletions one gets 200, the others 404", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, remove));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)]);
  });
}
