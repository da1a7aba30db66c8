/** All events of a webhook since a time, once more: the rows that say so. No writer runs here. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Connection } from "../../lib/db/connect.ts";
import { failure, faultyFields, type TestApi } from "./support/api.ts";
import { type Desk, newDesk, startWebhookApi, storeMany, URL_HERE } from "./support/webhook-desk.ts";
import { revertEvent, storeEvent } from "./support/webhooks.ts";

let api: TestApi;
let connection: Connection;
beforeAll(async () => {
  ({ api, connection } = await startWebhookApi());
});

let desk: Desk;
beforeEach(async () => {
  desk = await newDesk(api, connection);
});

const HOUR = 3600;
const seconds = (ago: number) => Math.floor(Date.now() / 1000) - ago;

describe("everything since a time", () => {
  const replay = (since: string | number) => desk.owner.call("POST", `/${desk.id}/replay?since=${since}`);
  const scheduled = async (since: number) =>
    z.object({ scheduled: z.number() }).parse((await replay(since)).json).scheduled;

  test("is sent once more, delivered or not, and nothing else", async () => {
    const old = await desk.event({ daysAgo: 2 });
    const [sent, never, waiting] = [await desk.event(), await desk.event(), await desk.event()];
    const reverted = await desk.event();
    await revertEvent(connection, reverted);
    await storeEvent(connection, desk.owner.wallet, { block: desk.block - 1 }); // before the webhook
    await storeEvent(connection, `0x${"12".repeat(20)}`, { block: desk.block }); // another wallet's
    const burn = await storeEvent(connection, `0x${"12".repeat(20)}`, {
      block: desk.block,
      type: "token_burned",
    });
    await desk.deliver(old);
    await desk.deliver(sent);
    await desk.deliver(waiting, { state: "pending", failures: 4, inHours: 3 });
    await desk.deliver(reverted);
    const answer = await replay(seconds(HOUR));
    expect([answer.status, answer.json]).toEqual([202, { ok: true, id: desk.id, scheduled: 4 }]);
    const due = { state: "pending", failures: 0, due: true };
    expect(await desk.rows()).toMatchObject([
      { seq: old.seq, state: "delivered" },
      { seq: sent.seq, ...due, attempts: 1 },
      { seq: never.seq, ...due, attempts: 0 },
      { seq: waiting.seq, ...due },
      { seq: reverted.seq, state: "delivered" },
      { seq: burn.seq, ...due },
    ]);
    expect(await scheduled(seconds(HOUR))).toBe(4);
    expect(await scheduled(seconds(3 * 24 * HOUR))).toBe(5);
    expect(await desk.rows()).toHaveLength(6);
  });

  test("keeps to the events that the webhook names, and to their reversals", async () => {
    const named = await desk.owner.subscribe(URL_HERE, ["bond_minted"]);
    await desk.event();
    await desk.event({ type: "token_burned" });
    const minted = await desk.event({ type: "bond_minted" });
    const answer = await desk.owner.call("POST", `/${named.id}/replay?since=${seconds(HOUR)}`);
    expect(answer.json).toMatchObject({ scheduled: 1 });
    const [row] = await connection.sql`select event_seq from service.delivery where webhook_id = ${named.id}`;
    expect(row).toEqual({ event_seq: minted.seq });
  });

  test("is many at once, in rounds", async () => {
    await storeMany(connection, desk, "bulk-", 12_000);
    expect(await scheduled(seconds(HOUR))).toBe(12_000);
    expect(await scheduled(seconds(HOUR))).toBe(12_000);
    expect(await desk.rows()).toHaveLength(12_000);
  });

  test("is not cut short by a sample, whose number may be higher than its time tells", async () => {
    const first = await desk.event();
    await desk.event();
    const sample = await desk.event({ type: "webhook_test" });
    await connection.sql`
      update service.event set block_number = null, created_at = (
        select created_at - interval '1 s' from service.event where seq = ${first.seq}) where seq = ${sample.seq}`;
    expect(await scheduled(seconds(HOUR))).toBe(2);
    await connection.sql`delete from service.delivery`;
    await desk.giveUp(0);
    expect((await desk.owner.call("POST", `/${desk.id}/retry`)).json).toMatchObject({ scheduled: 2 });
  });

  test("is nothing where nothing happened since", async () => {
    await desk.event();
    expect(await scheduled(seconds(-30))).toBe(0);
    expect(await desk.rows()).toEqual([]);
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
    [String(seconds(-300)), /future/],
  ])("since %j is 400", async (since, words) => {
    const answer = await replay(since);
    expect([failure(answer), faultyFields(answer)]).toEqual([[400, "validation_error"], ["since"]]);
    expect(answer.text).toMatch(words);
  });

  test("needs a time, and may go back for thirty days", async () => {
    const answer = await desk.owner.call("POST", `/${desk.id}/replay`);
    expect([failure(answer), faultyFields(answer)]).toEqual([[400, "validation_error"], ["since"]]);
    expect((await replay(seconds(30 * 24 * HOUR))).status).toBe(202);
  });

  test("is refused while the webhook is undeliverable", async () => {
    await desk.event();
    await desk.giveUp(0);
    for (const since of [HOUR, -30]) {
      expect(failure(await replay(seconds(since)))).toEqual([409, "webhook_undeliverable"]);
    }
    expect(await desk.rows()).toEqual([]);
  });
});
