/** Replaying a webhook's events since a time: the delivery rows that result. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { failure, invalidFields } from "./api.ts";
import { addEvents, LOCAL_URL, type WebhookTest } from "./webhook-fixture.ts";
import { revertEvent, storeEvent } from "./webhooks.ts";

export function replayCalls({ webhook, connection }: WebhookTest): void {
  const HOUR = 3600;
  const seconds = (ago: number) => Math.floor(Date.now() / 1000) - ago;

  describe("POST /api/v1/webhooks/{id}/replay", () => {
    const replay = (since: string | number) =>
      webhook().owner.call("POST", `/${webhook().id}/replay?since=${since}`);
    const scheduled = async (since: number) =>
      z.object({ scheduled: z.number() }).parse((await replay(since)).json).scheduled;

    test("schedules exactly the webhook's events since the time, delivered or not", async () => {
      const old = await webhook().addEvent({ daysAgo: 2 });
      const [sent, never, waiting] = [
        await webhook().addEvent(),
        await webhook().addEvent(),
        await webhook().addEvent(),
      ];
      const reverted = await webhook().addEvent();
      await revertEvent(connection(), reverted);
      await storeEvent(connection(), webhook().owner.wallet, { block: webhook().firstBlock - 1 }); // before the webhook
      await storeEvent(connection(), `0x${"12".repeat(20)}`, { block: webhook().firstBlock }); // another wallet's
      await webhook().addEvent({ type: "token_burned" }); // a webhook for '*' receives no burns
      await webhook().addDelivery(old);
      await webhook().addDelivery(sent);
      await webhook().addDelivery(waiting, { state: "pending", failures: 4, inHours: 3 });
      await webhook().addDelivery(reverted);
      const answer = await replay(seconds(HOUR));
      expect([answer.status, answer.json]).toEqual([202, { ok: true, id: webhook().id, scheduled: 3 }]);
      const due = { state: "pending", failures: 0, due: true };
      expect(await webhook().deliveries()).toMatchObject([
        { seq: old.seq, state: "delivered" },
        { seq: sent.seq, ...due, attempts: 1 },
        { seq: never.seq, ...due, attempts: 0 },
        { seq: waiting.seq, ...due },
        { seq: reverted.seq, state: "delivered" },
      ]);
      expect(await scheduled(seconds(HOUR))).toBe(3);
      expect(await scheduled(seconds(3 * 24 * HOUR))).toBe(4);
      expect(await webhook().deliveries()).toHaveLength(5);
    });

    test("schedules the burns of every wallet if the webhook names them", async () => {
      const named = await webhook().owner.subscribe(LOCAL_URL, ["token_burned"]);
      await webhook().addEvent();
      const burn = await storeEvent(connection(), `0x${"12".repeat(20)}`, {
        block: webhook().firstBlock,
        type: "token_burned",
      });
      const answer = await webhook().owner.call("POST", `/${named.id}/replay?since=${seconds(HOUR)}`);
      expect(answer.json).toMatchObject({ scheduled: 1 });
      const [row] = await connection()
        .sql`select event_seq from service.delivery where webhook_id = ${named.id} and not test`;
      expect(row).toEqual({ event_seq: burn.seq });
    });

    test("schedules only the event types that the webhook names", async () => {
      const named = await webhook().owner.subscribe(LOCAL_URL, ["bond_minted"]);
      await webhook().addEvent();
      await webhook().addEvent({ type: "token_burned" });
      const minted = await webhook().addEvent({ type: "bond_minted" });
      const answer = await webhook().owner.call("POST", `/${named.id}/replay?since=${seconds(HOUR)}`);
      expect(answer.json).toMatchObject({ scheduled: 1 });
      const [row] = await connection()
        .sql`select event_seq from service.delivery where webhook_id = ${named.id} and not test`;
      expect(row).toEqual({ event_seq: minted.seq });
    });

    test("schedules 12,000 events, in rounds", async () => {
      await addEvents(connection(), webhook(), "bulk-", 12_000);
      expect(await scheduled(seconds(HOUR))).toBe(12_000);
      expect(await scheduled(seconds(HOUR))).toBe(12_000);
      expect(await webhook().deliveries()).toHaveLength(12_000);
    });

    test("is limited to five a day of a wallet while its webhooks are not verified, and costs nothing of it afterwards", async () => {
      const other = await webhook().owner.subscribe(LOCAL_URL);
      const paths = [webhook().id, other.id].map((id) => `/${id}/replay?since=${seconds(HOUR)}`);
      const call = (n: number) => webhook().owner.call("POST", paths[n % 2]);
      for (let n = 0; n < 5; n += 1) expect((await call(n)).status).toBe(202);
      const sixth = await call(5);
      expect(failure(sixth)).toEqual([429, "rate_limit"]);
      expect(Number(sixth.headers.get("retry-after"))).toBeGreaterThan(80_000);
      const one = await webhook().addDelivery(await webhook().addEvent());
      const replayOne = () => webhook().owner.call("POST", `/${webhook().id}/deliveries/${one}/replay`);
      expect(failure(await replayOne())).toEqual([429, "rate_limit"]);
      await connection().sql`update service.webhook set verified_at = now() where id = ${webhook().id}`;
      for (let n = 0; n < 6; n += 1) expect((await call(0)).status).toBe(202);
      expect((await replayOne()).status).toBe(202);
      expect(failure(await call(1))).toEqual([429, "rate_limit"]);
    });

    test("is not cut short by a sample event with a higher sequence number and an earlier time", async () => {
      const first = await webhook().addEvent();
      await webhook().addEvent();
      const sample = await webhook().addEvent({ type: "webhook_test" });
      await connection().sql`
      update service.event set block_number = null, created_at = (
        select created_at - interval '1 s' from service.event where seq = ${first.seq}) where seq = ${sample.seq}`;
      expect(await scheduled(seconds(HOUR))).toBe(2);
      await connection().sql`delete from service.delivery`;
      await webhook().markUndeliverable(0);
      expect((await webhook().owner.call("POST", `/${webhook().id}/retry`)).json).toMatchObject({
        scheduled: 2,
      });
    });

    test("schedules nothing if there are no events since the time", async () => {
      await webhook().addEvent();
      expect(await scheduled(seconds(-30))).toBe(0);
      expect(await webhook().deliveries()).toEqual([]);
    });

    test.each([
      ["", /decimal digits/],
      ["yesterday", /decimal digits/],
      ["-1", /decimal digits/],
      ["1.5", /decimal digits/],
      ["1e9", /decimal digits/],
      [String(Date.now()), /future|digits/],
      ["0", /30 days/],
      [String(seconds(30 * 24 * HOUR + 300)), /30 days/],
      // A day: the other tests of this file may take longer than minutes.
      [String(seconds(-24 * HOUR)), /future/],
    ])("since=%j gets 400", async (since, words) => {
      const answer = await replay(since);
      expect([failure(answer), invalidFields(answer)]).toEqual([[400, "validation_error"], ["since"]]);
      expect(answer.text).toMatch(words);
    });

    test("requires since, and accepts up to 30 days ago", async () => {
      const answer = await webhook().owner.call("POST", `/${webhook().id}/replay`);
      expect([failure(answer), invalidFields(answer)]).toEqual([[400, "validation_error"], ["since"]]);
      expect((await replay(seconds(30 * 24 * HOUR))).status).toBe(202);
    });

    test("gets 409 while the webhook is undeliverable", async () => {
      await webhook().addEvent();
      await webhook().markUndeliverable(0);
      for (const since of [HOUR, -30]) {
        expect(failure(await replay(seconds(since)))).toEqual([409, "webhook_undeliverable"]);
      }
      expect(await webhook().deliveries()).toEqual([]);
    });
  });
}
