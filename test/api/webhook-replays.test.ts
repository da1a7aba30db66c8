/**
 * What is sent once more, or late: the rows that say so. No writer runs here, so that they stay as the api leaves them;
 * the events are the test's own.
 */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { atEnd } from "../support/cleanup.ts";
import { failure, faultyFields, messageOf, startApi, type TestApi } from "./support/api.ts";
import {
  type MadeEvent,
  newSubscriber,
  revertEvent,
  type Subscriber,
  storeEvent,
} from "./support/webhooks.ts";

const URL_HERE = "http://127.0.0.1:9/hook";
const HOUR = 3600;

let api: TestApi;
let connection: Connection;
beforeAll(async () => {
  api = await startApi();
  connection = connect(api.stack.databaseUrl, { name: "test", max: 4 });
  atEnd(() => connection.close());
  await newSubscriber(api); // the tables are there
  await connection.sql`insert into service.outbox (chain_id, final_block, final_time, passed_block) values (8453, 1, 1, 1)`;
});

let owner: Subscriber;
let id: number;
/** The first block whose events are the subscription's. */
let block: number;
beforeEach(async () => {
  // Everybody's burns would be told to the webhooks of other tests too.
  await connection.sql`truncate service.delivery, service.event`;
  owner = await newSubscriber(api);
  const made = await owner.subscribe(URL_HERE);
  id = made.id;
  block = Number(made.fromBlock) + 1;
});

type Row = { seq: string; state: string; failures: number; attempts: number; due: boolean };
const rows = () => connection.sql<Row[]>`
  select event_seq as seq, state, failures, jsonb_array_length(attempts) as attempts, next_attempt_at <= now() as due
  from service.delivery where webhook_id = ${id} order by event_seq`;
const states = async () => (await rows()).map(({ state }) => state);

const attempt = {
  ...{ at: "2026-01-01T00:00:00.000Z", durationMs: 12, outcome: "refused", status: 500 },
  ...{ error: "the answer was 500", response: "oh" },
};
type Sent = { state?: string; failures?: number; inHours?: number; taken?: boolean; test?: boolean };
/** A delivery of an event as a writer leaves it, with an attempt. */
async function deliver(
  { seq }: MadeEvent,
  { state = "delivered", failures = 0, inHours = 0, taken = false, test: sample = false }: Sent = {},
): Promise<number> {
  const [row] = await connection.sql<{ id: string }[]>`
    insert into service.delivery
      (webhook_id, event_seq, state, failures, attempts, next_attempt_at, taken_at, delivered_at, test)
    values (${id}, ${seq}, ${state}, ${failures}, ${JSON.stringify([attempt])}::jsonb, now() + make_interval(hours => ${inHours}),
      case when ${taken} then now() end, case when ${state} = 'delivered' then now() end, ${sample})
    returning id`;
  return Number(row?.id);
}
const event = (more: Parameters<typeof storeEvent>[2] | { daysAgo?: number; type?: string } = {}) =>
  storeEvent(connection, owner.wallet, { block, ...more });
const giveUp = (position: number | string) => connection.sql`
  update service.webhook set state = 'undeliverable', position = ${position}, undeliverable_at = now() where id = ${id}`;
const nextSeq = async () => {
  const [row] = await connection.sql<
    { seq: string }[]
  >`select coalesce(max(seq), 0) as seq from service.event`;
  return row?.seq ?? "0";
};
const seconds = (ago: number) => Math.floor(Date.now() / 1000) - ago;

describe("the deliveries of a webhook", () => {
  const page = z.object({
    nextCursor: z.string().nullable(),
    deliveries: z.array(z.looseObject({ id: z.number(), state: z.string() })),
  });
  const list = async (query = "") => page.parse((await owner.call("GET", `/${id}/deliveries${query}`)).json);

  test("are told as a client sees them, newest first", async () => {
    const ids = [
      await deliver(await event(), {}),
      await deliver(await event(), { state: "pending", failures: 2, inHours: 1 }),
      await deliver(await event(), { state: "pending", failures: 2, taken: true }),
      await deliver(await event(), { state: "pending" }),
      await deliver(await event(), { state: "undeliverable", failures: 7 }),
      await deliver(await event(), { state: "cancelled" }),
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
    const ids = [await deliver(await event()), await deliver(await event()), await deliver(await event())];
    const first = await list("?limit=2");
    expect(first.deliveries.map((delivery) => delivery.id)).toEqual([ids[2], ids[1]]);
    await deliver(await event());
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
    const answer = await owner.call("GET", `/${id}/deliveries${query}`);
    expect([failure(answer), faultyFields(answer)]).toEqual([[400, "validation_error"], [field]]);
  });
});

describe("one delivery once more", () => {
  const replay = (delivery: number | string) => owner.call("POST", `/${id}/deliveries/${delivery}/replay`);

  test.each<Sent>([
    {},
    { state: "pending", failures: 3, inHours: 2 },
    { state: "undeliverable", failures: 7, inHours: 24 },
  ])("is scheduled from the beginning: %j", async (sent) => {
    const delivery = await deliver(await event(), sent);
    const answer = await replay(delivery);
    expect(answer.status).toBe(202);
    const again = { id: delivery, state: "delivering", attempts: [attempt], nextAttemptAt: null };
    expect(answer.json).toMatchObject({ ok: true, id, delivery: again });
    expect(await rows()).toMatchObject([{ state: "pending", failures: 0, attempts: 1, due: true }]);
    expect((await replay(delivery)).status).toBe(202);
    expect(await rows()).toHaveLength(1);
  });

  test("that is under way goes on", async () => {
    const delivery = await deliver(await event(), { state: "pending", failures: 3, taken: true });
    expect((await replay(delivery)).status).toBe(202);
    expect(await rows()).toMatchObject([{ state: "pending", failures: 3 }]);
  });

  test("is refused for a reverted event, while undeliverable, for a test, and where there is none", async () => {
    const made = await event();
    const delivery = await deliver(made);
    await revertEvent(connection, made);
    expect(failure(await replay(delivery))).toEqual([409, "event_reverted"]);
    expect(await states()).toEqual(["delivered"]);
    const sample = await deliver(await event(), { test: true });
    expect(failure(await replay(sample))).toEqual([404, "delivery_not_found"]);
    expect(messageOf(await replay(sample))).toContain("test");
    expect(failure(await replay(999_999))).toEqual([404, "delivery_not_found"]);
    expect(failure(await replay("x"))).toEqual([400, "validation_error"]);

    const other = await owner.subscribe(URL_HERE);
    const elsewhere = await owner.call("POST", `/${other.id}/deliveries/${delivery}/replay`);
    expect(failure(elsewhere)).toEqual([404, "delivery_not_found"]);

    const good = await deliver(await event());
    await giveUp(0);
    const answer = await replay(good);
    expect(failure(answer)).toEqual([409, "webhook_undeliverable"]);
    expect(messageOf(answer)).toContain(`/api/v1/webhooks/${id}/retry`);
  });
});

describe("everything since a time", () => {
  const replay = (since: string | number) => owner.call("POST", `/${id}/replay?since=${since}`);
  const scheduled = async (since: number) =>
    z.object({ scheduled: z.number() }).parse((await replay(since)).json).scheduled;

  test("is sent once more, delivered or not, and nothing else", async () => {
    const old = await event({ daysAgo: 2 });
    const [sent, never, waiting] = [await event(), await event(), await event()];
    const reverted = await event();
    await revertEvent(connection, reverted);
    await storeEvent(connection, owner.wallet, { block: block - 1 }); // before the webhook
    await storeEvent(connection, `0x${"12".repeat(20)}`, { block }); // another wallet's
    const burn = await storeEvent(connection, `0x${"12".repeat(20)}`, { block, type: "token_burned" });
    await deliver(old);
    await deliver(sent);
    await deliver(waiting, { state: "pending", failures: 4, inHours: 3 });
    await deliver(reverted);
    const answer = await replay(seconds(HOUR));
    expect([answer.status, answer.json]).toEqual([202, { ok: true, id, scheduled: 4 }]);
    const due = { state: "pending", failures: 0, due: true };
    expect(await rows()).toMatchObject([
      { seq: old.seq, state: "delivered" },
      { seq: sent.seq, ...due, attempts: 1 },
      { seq: never.seq, ...due, attempts: 0 },
      { seq: waiting.seq, ...due },
      { seq: reverted.seq, state: "delivered" },
      { seq: burn.seq, ...due },
    ]);
    expect(await scheduled(seconds(HOUR))).toBe(4);
    expect(await scheduled(seconds(3 * 24 * HOUR))).toBe(5);
    expect(await rows()).toHaveLength(6);
  });

  test("keeps to the events that the webhook names, and to their reversals", async () => {
    const named = await owner.subscribe(URL_HERE, ["bond_minted"]);
    await event();
    await event({ type: "token_burned" });
    const minted = await event({ type: "bond_minted" });
    const answer = await owner.call("POST", `/${named.id}/replay?since=${seconds(HOUR)}`);
    expect(answer.json).toMatchObject({ scheduled: 1 });
    const [row] = await connection.sql`select event_seq from service.delivery where webhook_id = ${named.id}`;
    expect(row).toEqual({ event_seq: minted.seq });
  });

  test("is many at once, in rounds", async () => {
    await connection.sql`
      insert into service.event (chain_id, id, key, type, block_number, parties, body)
      select 8453, 'bulk-' || ${id}::text || '-' || n, 'bulk-' || ${id}::text || '-' || n, 'bond_minted', ${block},
        array[${owner.wallet.toLowerCase()}], '{}' from generate_series(1, 12000) n`;
    expect(await scheduled(seconds(HOUR))).toBe(12_000);
    expect(await scheduled(seconds(HOUR))).toBe(12_000);
    expect(await rows()).toHaveLength(12_000);
  });

  test("is nothing where nothing happened since", async () => {
    await event();
    expect(await scheduled(seconds(-30))).toBe(0);
    expect(await rows()).toEqual([]);
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
    const answer = await owner.call("POST", `/${id}/replay`);
    expect([failure(answer), faultyFields(answer)]).toEqual([[400, "validation_error"], ["since"]]);
    expect((await replay(seconds(30 * 24 * HOUR))).status).toBe(202);
  });

  test("is refused while the webhook is undeliverable", async () => {
    await event();
    await giveUp(0);
    for (const since of [HOUR, -30]) {
      expect(failure(await replay(seconds(since)))).toEqual([409, "webhook_undeliverable"]);
    }
    expect(await rows()).toEqual([]);
  });
});

describe("an undeliverable webhook that is re-enabled", () => {
  const retry = () => owner.call("POST", `/${id}/retry`);

  test("is told what it missed and what was given up, but for what is too old or was reverted", async () => {
    const before = await event();
    await deliver(before);
    const position = await nextSeq();
    const [tooOld, givenUp, reverted] = [await event({ daysAgo: 31 }), await event(), await event()];
    const sample = await event();
    for (const each of [tooOld, givenUp, reverted]) {
      await deliver(each, { state: "undeliverable", failures: 7, inHours: 24 });
    }
    await deliver(sample, { state: "undeliverable", test: true });
    await revertEvent(connection, reverted);
    const [missed, revertedUnsent] = [await event(), await event()];
    await event({ daysAgo: 32 });
    await revertEvent(connection, revertedUnsent);
    await giveUp(position);
    expect((await owner.call("GET", `/${id}`)).json).toMatchObject({
      ...{ state: "undeliverable", undeliverableSince: expect.any(String) },
    });

    const answer = await retry();
    // The event of the sample is a real one here, and so it is missed only once: its delivery stands.
    expect([answer.status, answer.json]).toEqual([200, { ok: true, id, scheduled: 2 }]);
    expect(await rows()).toMatchObject([
      { seq: before.seq, state: "delivered" },
      { seq: tooOld.seq, state: "undeliverable", failures: 7 },
      { seq: givenUp.seq, state: "pending", failures: 0, attempts: 1, due: true },
      { seq: reverted.seq, state: "cancelled" },
      { seq: sample.seq, state: "undeliverable" },
      { seq: missed.seq, state: "pending", failures: 0, attempts: 0, due: true },
    ]);
    expect((await owner.call("GET", `/${id}`)).json).toMatchObject({
      ...{ state: "active", undeliverableSince: null },
    });
    expect((await retry()).json).toEqual({ ok: true, id, scheduled: 0 });
  });

  test("is re-enabled once by ten calls at the same moment", async () => {
    const position = await nextSeq();
    await event();
    await event();
    await giveUp(position);
    const answers = await Promise.all(Array.from({ length: 10 }, retry));
    const counts = answers.map(({ json }) => z.object({ scheduled: z.number() }).parse(json).scheduled);
    expect(counts.sort()).toEqual([...Array(9).fill(0), 2]);
    expect(await states()).toEqual(["pending", "pending"]);
  });

  test("hears of a reversal if it may have been told of the event", async () => {
    const position = await nextSeq();
    const [told, untold] = [await event(), await event()];
    await deliver(told, { state: "undeliverable", failures: 7 });
    await revertEvent(connection, told);
    await revertEvent(connection, untold);
    const reversals = [await event({ type: "event_reverted" }), await event({ type: "event_reverted" })];
    const { sql } = connection;
    await sql`update service.event set reverts = ${told.seq} where seq = ${reversals[0]?.seq ?? ""}`;
    await sql`update service.event set reverts = ${untold.seq} where seq = ${reversals[1]?.seq ?? ""}`;
    await giveUp(position);
    expect((await retry()).json).toMatchObject({ scheduled: 1 });
    expect(await rows()).toMatchObject([
      { seq: told.seq, state: "cancelled" },
      { seq: reversals[0]?.seq, state: "pending" },
    ]);
  });

  test("waits for the pass that the outbox is writing, and misses nothing of it", async () => {
    const position = await nextSeq();
    await giveUp(position);
    const passing = connection.sql.begin(async (tx) => {
      await tx`update service.outbox set pass = pass + 1 where chain_id = 8453`;
      const answer = retry();
      await tx`
        insert into service.event (chain_id, id, key, type, block_number, parties, body) values
          (8453, ${`late-${id}`}, ${`late-${id}`}, 'bond_minted', ${block}, array[${owner.wallet.toLowerCase()}], '{}')`;
      // The pass sees an undeliverable webhook, and so makes no delivery.
      await tx`select pg_sleep(0.5)`;
      return { answer };
    });
    const { answer } = await passing;
    expect((await answer).json).toMatchObject({ scheduled: 1 });
    expect(await states()).toEqual(["pending"]);
  });

  test("takes up thousands, in rounds", async () => {
    const position = await nextSeq();
    await connection.sql`
      insert into service.event (chain_id, id, key, type, block_number, parties, body)
      select 8453, 'many-' || ${id}::text || '-' || n, 'many-' || ${id}::text || '-' || n, 'bond_minted', ${block},
        array[${owner.wallet.toLowerCase()}], '{}' from generate_series(1, 12000) n`;
    await connection.sql`
      insert into service.delivery (webhook_id, event_seq, state)
      select ${id}, seq, 'undeliverable' from service.event where id like ${`many-${id}-%`} order by seq limit 6000`;
    await giveUp(position);
    expect((await retry()).json).toMatchObject({ scheduled: 12_000 });
    expect(new Set(await states())).toEqual(new Set(["pending"]));
    expect(await rows()).toHaveLength(12_000);
  });
});
