/** Re-enabling an undeliverable webhook: the delivery rows that result. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { outboxLock } from "../../../lib/webhooks/outbox-lock.ts";
import { waitForLockWaiter } from "../../support/database.ts";
import { addEvents, type WebhookTest } from "./webhook-fixture.ts";
import { revertEvent } from "./webhooks.ts";

export function retryCalls({ webhook, connection }: WebhookTest): void {
  describe("POST /api/v1/webhooks/{id}/retry", () => {
    const retry = () => webhook().owner.call("POST", `/${webhook().id}/retry`);

    test("schedules missed events and failed deliveries, except old or reverted ones", async () => {
      const before = await webhook().addEvent();
      await webhook().addDelivery(before);
      const position = await webhook().newestSeq();
      const [tooOld, failed, reverted] = [
        await webhook().addEvent({ daysAgo: 31 }),
        await webhook().addEvent(),
        await webhook().addEvent(),
      ];
      const sample = await webhook().addEvent();
      for (const each of [tooOld, failed, reverted]) {
        await webhook().addDelivery(each, { state: "undeliverable", failures: 7, inHours: 24 });
      }
      await webhook().addDelivery(sample, { state: "undeliverable", test: true });
      await revertEvent(connection(), reverted);
      const [missed, revertedUnsent] = [await webhook().addEvent(), await webhook().addEvent()];
      await webhook().addEvent({ daysAgo: 32 });
      await revertEvent(connection(), revertedUnsent);
      await webhook().markUndeliverable(position);
      expect((await webhook().owner.call("GET", `/${webhook().id}`)).json).toMatchObject({
        ...{ state: "undeliverable", undeliverableSince: expect.any(String) },
      });

      const answer = await retry();
      // The sample's event already has a delivery, so it does not count as missed.
      expect([answer.status, answer.json]).toEqual([200, { ok: true, id: webhook().id, scheduled: 2 }]);
      expect(await webhook().deliveries()).toMatchObject([
        { seq: before.seq, state: "delivered" },
        { seq: tooOld.seq, state: "undeliverable", failures: 7 },
        { seq: failed.seq, state: "pending", failures: 0, attempts: 1, due: true },
        { seq: reverted.seq, state: "cancelled" },
        { seq: sample.seq, state: "undeliverable" },
        { seq: missed.seq, state: "pending", failures: 0, attempts: 0, due: true },
      ]);
      expect((await webhook().owner.call("GET", `/${webhook().id}`)).json).toMatchObject({
        ...{ state: "active", undeliverableSince: null },
      });
      expect((await retry()).json).toEqual({ ok: true, id: webhook().id, scheduled: 0 });
    });

    test("ten simultaneous calls re-enable the webhook once", async () => {
      const position = await webhook().newestSeq();
      await webhook().addEvent();
      await webhook().addEvent();
      await webhook().markUndeliverable(position);
      const answers = await Promise.all(Array.from({ length: 10 }, retry));
      const counts = answers.map(({ json }) => z.object({ scheduled: z.number() }).parse(json).scheduled);
      expect(counts.sort()).toEqual([...Array(9).fill(0), 2]);
      expect(await webhook().deliveryStates()).toEqual(["pending", "pending"]);
    });

    test("schedules a reversal only if the event may have been delivered", async () => {
      const position = await webhook().newestSeq();
      const [attempted, missed] = [await webhook().addEvent(), await webhook().addEvent()];
      await webhook().addDelivery(attempted, { state: "undeliverable", failures: 7 });
      await revertEvent(connection(), attempted);
      await revertEvent(connection(), missed);
      const reversals = [
        await webhook().addEvent({ type: "event_reverted" }),
        await webhook().addEvent({ type: "event_reverted" }),
      ];
      const { sql } = connection();
      await sql`update service.event set reverts = ${attempted.seq} where seq = ${reversals[0]?.seq ?? ""}`;
      await sql`update service.event set reverts = ${missed.seq} where seq = ${reversals[1]?.seq ?? ""}`;
      await webhook().markUndeliverable(position);
      expect((await retry()).json).toMatchObject({ scheduled: 1 });
      expect(await webhook().deliveries()).toMatchObject([
        { seq: attempted.seq, state: "cancelled" },
        { seq: reversals[0]?.seq, state: "pending" },
      ]);
    });

    test("waits for a running outbox, and includes its events", async () => {
      const position = await webhook().newestSeq();
      await webhook().markUndeliverable(position);
      const passing = connection().sql.begin(async (tx) => {
        await tx`select pg_advisory_xact_lock(hashtextextended(${outboxLock(8453)}, 0))`;
        const answer = retry();
        await tx`
        insert into service.event (chain_id, id, key, type, block_number, parties, body) values
          (8453, ${`late-${webhook().id}`}, ${`late-${webhook().id}`}, 'bond_minted', ${webhook().firstBlock}, array[${webhook().owner.wallet.toLowerCase()}], '{}')`;
        // The outbox sees an undeliverable webhook, so it creates no delivery.
        await waitForLockWaiter(tx);
        return { answer };
      });
      const { answer } = await passing;
      expect((await answer).json).toMatchObject({ scheduled: 1 });
      expect(await webhook().deliveryStates()).toEqual(["pending"]);
    });

    test("schedules 12,000 events, in rounds", async () => {
      const position = await webhook().newestSeq();
      await addEvents(connection(), webhook(), "many-", 12_000);
      await connection().sql`
      insert into service.delivery (webhook_id, event_seq, state)
      select ${webhook().id}, seq, 'undeliverable' from service.event where id like 'many-%' order by seq limit 6000`;
      await webhook().markUndeliverable(position);
      expect((await retry()).json).toMatchObject({ scheduled: 12_000 });
      expect(new Set(await webhook().deliveryStates())).toEqual(new Set(["pending"]));
      expect(await webhook().deliveries()).toHaveLength(12_000);
    });
  });
}
