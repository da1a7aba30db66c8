/** Creating, reading and deleting webhooks, their owners, and their secrets. */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { DEV_SECRETS_KEY } from "../../lib/off-local.ts";
import { eventTypes } from "../../lib/webhooks/events.ts";
import { outboxLock } from "../../lib/webhooks/outbox-lock.ts";
import { createSealer } from "../../lib/webhooks/secrets.ts";
import { atEnd } from "../support/cleanup.ts";
import { waitForLockWaiter } from "../support/database.ts";
import { checkedRequests } from "../support/openapi.ts";
import { startStack } from "../support/stack.ts";
import { failure, repeatWhile, startApi, type TestApi } from "./support/api.ts";
import { LOCAL_URL } from "./support/webhook-fixture.ts";
import { callsForWebhook, newSubscriber, WEBHOOKS } from "./support/webhooks.ts";

let api: TestApi;
/** An api on the same database with a limit of 2 requests per minute and key. */
let strict: TestApi;
let connection: Connection;
beforeAll(async () => {
  api = await startApi();
  const { chain, protocol } = api;
  const { databaseUrl } = api.stack;
  const stack = await startStack({
    chain,
    databaseUrl,
    services: ["api"],
    env: { api: { FREE_KEY_RATE_LIMIT: "2" } },
  });
  strict = { chain, protocol, stack, request: await checkedRequests(stack.apiUrl) };
  connection = connect(databaseUrl, { name: "test", max: 2 });
  atEnd(() => connection.close());
});

describe("a webhook", () => {
  test("can be created, listed, read and deleted with a key of its wallet", async () => {
    const owner = await newSubscriber(api);
    const answer = await owner.call("POST", "", { url: LOCAL_URL, events: ["bond_minted", "bond_redeemed"] });
    expect(answer.status).toBe(201);
    const head = await api.chain.client.getBlockNumber();
    const webhook = {
      ...{ url: LOCAL_URL, events: ["bond_minted", "bond_redeemed"], state: "active" },
      ...{ undeliverableSince: null, previousSecretValidUntil: null, fromBlock: String(head) },
    };
    expect(answer.json).toMatchObject({
      ok: true,
      ...webhook,
      secret: expect.stringMatching(/^[0-9a-f]{64}$/),
      warning: expect.stringContaining("cannot be shown again"),
    });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { id } = z.object({ id: z.number() }).parse(answer.json);
    const other = await owner.subscribe(LOCAL_URL);
    expect((await owner.call("GET")).json).toMatchObject({
      ...{ wallet: owner.wallet, count: 2, total: 2 },
      webhooks: [
        { id: other.id, events: ["*"] },
        { id, ...webhook },
      ],
    });
    expect((await owner.call("GET", "?limit=1&offset=1")).json).toMatchObject({
      count: 1,
      webhooks: [{ id }],
    });
    expect((await owner.call("GET", `/${id}`)).json).toMatchObject({ id, ...webhook });
    expect((await owner.call("DELETE", `/${id}`)).json).toEqual({ ok: true, id });
    expect(failure(await owner.call("DELETE", `/${id}`))).toEqual([404, "webhook_not_found"]);
    expect((await owner.call("GET")).json).toMatchObject({ count: 1, webhooks: [{ id: other.id }] });
  });

  test("gets 404 for another wallet's key, and 200 for another key of its own wallet", async () => {
    const [owner, stranger] = [await newSubscriber(api), await newSubscriber(api)];
    const { id } = await owner.subscribe(LOCAL_URL);
    for (const [method, path] of callsForWebhook(1)) {
      const answer = await stranger.call(method, `/${id}${path}`);
      expect([path, failure(answer)]).toEqual([path, [404, "webhook_not_found"]]);
      const keyless = await api.request(`${WEBHOOKS}/${id}${path}`, { method });
      expect([path, failure(keyless)]).toEqual([path, [401, "unauthenticated"]]);
      expect(failure(await owner.call(method, `/abc${path}`))).toEqual([400, "validation_error"]);
      expect(failure(await owner.call(method, `/${"9".repeat(15)}${path}`))[1]).toBe("webhook_not_found");
    }
    expect((await stranger.call("GET")).json).toMatchObject({ count: 0, total: 0 });
    const secondKey = await newSubscriber(api, owner.wallet);
    expect((await secondKey.call("GET", `/${id}`)).status).toBe(200);
  });

  test("counts towards a cap of 20 per wallet, also for 25 simultaneous calls", async () => {
    const owner = await newSubscriber(api);
    const answers = await Promise.all(
      Array.from({ length: 25 }, () =>
        repeatWhile(["database_unavailable"], () => owner.call("POST", "", { url: LOCAL_URL, events: "*" })),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(failure(answer)).toEqual([409, "cap_reached"]);
    }
    expect((await owner.call("GET")).json).toMatchObject({ count: 20, total: 20 });
    const { webhooks } = z
      .object({ webhooks: z.array(z.object({ id: z.number() })) })
      .parse((await owner.call("GET")).json);
    await owner.call("DELETE", `/${webhooks[0]?.id}`);
    await owner.subscribe(LOCAL_URL);
    const another = await owner.call("POST", "", { url: LOCAL_URL, events: "*" });
    expect(failure(another)).toEqual([409, "cap_reached"]);
    // Another wallet has its own cap.
    await (await newSubscriber(api)).subscribe(LOCAL_URL);
  });

  test.each<[given: unknown, events: string[]]>([
    ["*", ["*"]],
    ["bond_minted", ["bond_minted"]],
    [["*"], ["*"]],
    [["*", "*"], ["*"]],
    [
      ["token_burned", "policy_expired", "token_burned"],
      ["token_burned", "policy_expired"],
    ],
    [[...eventTypes], [...eventTypes]],
  ])("can be created for the events %j", async (given, events) => {
    const owner = await newSubscriber(api);
    const answer = await owner.call("POST", "", { url: LOCAL_URL, events: given });
    expect([answer.status, answer.json]).toEqual([201, expect.objectContaining({ events })]);
  });

  test("starts at the later of the chain's head and the outbox's last processed block", async () => {
    const { sql } = connection;
    const owner = await newSubscriber(api);
    const start = async (id: number) => {
      const [row] =
        await sql`select from_block, processed_block, processed_event from service.webhook where id = ${id}`;
      return row;
    };
    const head = String(await api.chain.client.getBlockNumber());
    // The challenges of other webhooks are events too.
    const [newest] = await sql<
      { seq: string }[]
    >`select coalesce(max(seq), 0)::text as seq from service.event`;
    const before = await owner.subscribe(LOCAL_URL);
    expect(await start(before.id)).toEqual({
      ...{ from_block: head, processed_block: "-1", processed_event: newest?.seq },
    });
    await sql`insert into service.outbox (chain_id, final_block, final_time, processed_block) values (8453, 1, 1, 7)`;
    const [event] = await sql<{ seq: string }[]>`
      insert into service.event (chain_id, id, key, type, parties, body) values (8453, 'a', 'a', 'webhook_test', '{}', '')
      returning seq`;
    const after = await owner.subscribe(LOCAL_URL);
    expect(await start(after.id)).toEqual({
      from_block: head,
      processed_block: "7",
      processed_event: event?.seq,
    });
    await sql`update service.outbox set processed_block = 1000000`;
    const behind = await owner.subscribe(LOCAL_URL);
    expect(await start(behind.id)).toMatchObject({ from_block: "1000000", processed_block: "1000000" });

    // A running outbox is serialised before the creation: it does not see the webhook, so its blocks are excluded.
    const passing = await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended(${outboxLock(8453)}, 0))`;
      await tx`update service.outbox set processed_block = 2000000`;
      const made = owner.subscribe(LOCAL_URL);
      await waitForLockWaiter(tx);
      return { made };
    });
    const { id } = await passing.made;
    expect(await start(id)).toMatchObject({ from_block: "2000000", processed_block: "2000000" });
    await sql`delete from service.outbox`;
  });
});

describe("a secret", () => {
  const stored = async (id: number) => {
    const [row] = await connection.sql<{ secret: string; previous: string | null; all: string }[]>`
      select secret, previous_secret as previous, webhook::text as all from service.webhook where id = ${id}`;
    if (!row) throw new Error("no webhook");
    return row;
  };

  test("is returned once, and stored encrypted for its wallet", async () => {
    const owner = await newSubscriber(api);
    const { id, secret } = await owner.subscribe(LOCAL_URL);
    for (const path of ["", `/${id}`, `/${id}/deliveries`]) {
      expect((await owner.call("GET", path)).text).not.toContain(secret);
    }
    const row = await stored(id);
    expect(row.all).not.toContain(secret);
    const sealer = createSealer(DEV_SECRETS_KEY);
    expect(sealer.open(row.secret, owner.wallet)).toBe(secret);
    expect(() => sealer.open(row.secret, `0x${"12".repeat(20)}`)).toThrow();
    expect(api.stack.output("api")).not.toContain(secret);
  });

  test("after a rotation the previous secret is valid for a day, and older ones are erased", async () => {
    const owner = await newSubscriber(api);
    const { id, secret } = await owner.subscribe(LOCAL_URL);
    const rotated = z.object({ secret: z.string(), previousSecretValidUntil: z.string() });
    const rotate = async () => rotated.parse((await owner.call("POST", `/${id}/rotate-secret`)).json);
    const first = await rotate();
    expect(first.secret).not.toBe(secret);
    const hours = (Date.parse(first.previousSecretValidUntil) - Date.now()) / 3_600_000;
    expect(hours).toBeCloseTo(24, 1);
    expect((await owner.call("GET", `/${id}`)).json).toMatchObject({
      previousSecretValidUntil: first.previousSecretValidUntil,
    });
    const second = await rotate();
    const sealer = createSealer(DEV_SECRETS_KEY);
    const { secret: sealed, previous, all } = await stored(id);
    expect(sealer.open(sealed, owner.wallet)).toBe(second.secret);
    expect(sealer.open(previous ?? "", owner.wallet)).toBe(first.secret);
    for (const plain of [secret, first.secret, second.secret]) expect(all).not.toContain(plain);

    await connection.sql`update service.webhook set previous_secret_until = now() where id = ${id}`;
    expect((await owner.call("GET", `/${id}`)).json).toMatchObject({ previousSecretValidUntil: null });
  });
});

test("every response has the key's rate limit headers, and above the limit gets 429", async () => {
  const owner = await newSubscriber(strict);
  const [first, second] = [await owner.call("GET"), await owner.call("POST", "/1/retry")];
  for (const [answer, remaining] of [
    [first, "1"],
    [second, "0"],
  ] as const) {
    expect(answer.headers.get("x-ratelimit-limit")).toBe("2");
    expect(answer.headers.get("x-ratelimit-remaining")).toBe(remaining);
    expect(answer.headers.has("x-ratelimit-reset")).toBe(true);
  }
  const third = await owner.call("POST", "", { url: LOCAL_URL, events: "*" });
  expect(failure(third)).toEqual([429, "rate_limit"]);
  expect(third.headers.has("retry-after")).toBe(true);
});
