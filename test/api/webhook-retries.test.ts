/** An undeliverable webhook that is re-enabled: the rows that say so. No writer runs here. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Connection } from "../../lib/db/connect.ts";
import { outboxLock } from "../../lib/webhooks/outbox-lock.ts";
import type { TestApi } from "./support/api.ts";
import { type Desk, newDesk, startWebhookApi, storeMany, untilLockWanted } from "./support/webhook-desk.ts";
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

describe("an undeliverable webhook that is re-enabled", () => {
  const retry = () => desk.owner.call("POST", `/${desk.id}/retry`);

  test("is told what it missed and what was given up, but for what is too old or was reverted", async () => {
    const before = await desk.event();
    await desk.deliver(before);
    const position = await desk.lastSeq();
    const [tooOld, givenUp, reverted] = [
      await desk.event({ daysAgo: 31 }),
      await desk.event(),
      await desk.event(),
    ];
    const sample = await desk.event();
    for (const each of [tooOld, givenUp, reverted]) {
      await desk.deliver(each, { state: "undeliverable", failures: 7, inHours: 24 });
    }
    await desk.deliver(sample, { state: "undeliverable", test: true });
    await revertEvent(connection, reverted);
    const [missed, revertedUnsent] = [await desk.event(), await desk.event()];
    await desk.event({ daysAgo: 32 });
    await revertEvent(connection, revertedUnsent);
    await desk.giveUp(position);
    expect((await desk.owner.call("GET", `/${desk.id}`)).json).toMatchObject({
      ...{ state: "undeliverable", undeliverableSince: expect.any(String) },
    });

    const answer = await retry();
    // The event of the sample is a real one here, and so it is missed only once: its delivery stands.
    expect([answer.status, answer.json]).toEqual([200, { ok: true, id: desk.id, scheduled: 2 }]);
    expect(await desk.rows()).toMatchObject([
      { seq: before.seq, state: "delivered" },
      { seq: tooOld.seq, state: "undeliverable", failures: 7 },
      { seq: givenUp.seq, state: "pending", failures: 0, attempts: 1, due: true },
      { seq: reverted.seq, state: "cancelled" },
      { seq: sample.seq, state: "undeliverable" },
      { seq: missed.seq, state: "pending", failures: 0, attempts: 0, due: true },
    ]);
    expect((await desk.owner.call("GET", `/${desk.id}`)).json).toMatchObject({
      ...{ state: "active", undeliverableSince: null },
    });
    expect((await retry()).json).toEqual({ ok: true, id: desk.id, scheduled: 0 });
  });

  test("is re-enabled once by ten calls at the same moment", async () => {
    const position = await desk.lastSeq();
    await desk.event();
    await desk.event();
    await desk.giveUp(position);
    const answers = await Promise.all(Array.from({ length: 10 }, retry));
    const counts = answers.map(({ json }) => z.object({ scheduled: z.number() }).parse(json).scheduled);
    expect(counts.sort()).toEqual([...Array(9).fill(0), 2]);
    expect(await desk.states()).toEqual(["pending", "pending"]);
  });

  test("hears of a reversal if it may have been told of the event", async () => {
    const position = await desk.lastSeq();
    const [told, untold] = [await desk.event(), await desk.event()];
    await desk.deliver(told, { state: "undeliverable", failures: 7 });
    await revertEvent(connection, told);
    await revertEvent(connection, untold);
    const reversals = [
      await desk.event({ type: "event_reverted" }),
      await desk.event({ type: "event_reverted" }),
    ];
    const { sql } = connection;
    await sql`update service.event set reverts = ${told.seq} where seq = ${reversals[0]?.seq ?? ""}`;
    await sql`update service.event set reverts = ${untold.seq} where seq = ${reversals[1]?.seq ?? ""}`;
    await desk.giveUp(position);
    expect((await retry()).json).toMatchObject({ scheduled: 1 });
    expect(await desk.rows()).toMatchObject([
      { seq: told.seq, state: "cancelled" },
      { seq: reversals[0]?.seq, state: "pending" },
    ]);
  });

  test("waits for the pass that the outbox is writing, and misses nothing of it", async () => {
    const position = await desk.lastSeq();
    await desk.giveUp(position);
    const passing = connection.sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended(${outboxLock(8453)}, 0))`;
      const answer = retry();
      await tx`
        insert into service.event (chain_id, id, key, type, block_number, parties, body) values
          (8453, ${`late-${desk.id}`}, ${`late-${desk.id}`}, 'bond_minted', ${desk.block}, array[${desk.owner.wallet.toLowerCase()}], '{}')`;
      // The pass sees an undeliverable webhook, and so makes no delivery.
      await untilLockWanted(tx);
      return { answer };
    });
    const { answer } = await passing;
    expect((await answer).json).toMatchObject({ scheduled: 1 });
    expect(await desk.states()).toEqual(["pending"]);
  });

  test("takes up thousands, in rounds", async () => {
    const position = await desk.lastSeq();
    await storeMany(connection, desk, "many-", 12_000);
    await connection.sql`
      insert into service.delivery (webhook_id, event_seq, state)
      select ${desk.id}, seq, 'undeliverable' from service.event where id like 'many-%' order by seq limit 6000`;
    await desk.giveUp(position);
    expect((await retry()).json).toMatchObject({ scheduled: 12_000 });
    expect(new Set(await desk.states())).toEqual(new Set(["pending"]));
    expect(await desk.rows()).toHaveLength(12_000);
  });
});
