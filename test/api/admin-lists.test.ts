/** What the operator reads of keys and webhooks, and who may. There is no writer, so no row moves by itself. */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Connection } from "../../lib/db/connect.ts";
import { admin, failure, invalidFields, issueKey, newWallet, type TestApi } from "./support/api.ts";
import { addEvents, createWebhook, startWebhookApi } from "./support/webhook-fixture.ts";

let api: TestApi;
let connection: Connection;
beforeAll(async () => {
  ({ api, connection } = await startWebhookApi());
});

const read = (path: string) => api.request(`/api/v1/admin/${path}`, { headers: admin });

const calls = [
  ["GET", "keys"],
  ["GET", "stops"],
  ["POST", "stops"],
  ["GET", "ledger"],
  ["GET", "webhooks"],
] as const;

describe.each(calls)("%s /api/v1/admin/%s", (method, name) => {
  const call = (headers: Record<string, string>) =>
    api.request(`/api/v1/admin/${name}`, {
      method,
      headers,
      ...(method === "POST" && { body: { scope: "global", reason: "test" } }),
    });

  test("gets 401 without the admin token, and does nothing", async () => {
    const { headers } = await issueKey(api.request);
    const credentials: Record<string, string>[] = [{}, { "x-admin-token": "wrong" }, headers];
    for (const refused of credentials) {
      const answer = await call(refused);
      expect(failure(answer)).toEqual([401, "unauthenticated"]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
    expect([...(await connection.sql`select * from service.stop`)]).toEqual([]);
  });

  test("gets an answer with it, which no cache may keep", async () => {
    const answer = await call(admin);
    expect(answer.status, answer.text).toBe(method === "POST" ? 201 : 200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    await connection.sql`delete from service.stop`;
  });
});

test.each(["keys", "stops", "ledger", "webhooks"])("%s: bad parameters are named", async (name) => {
  const answer = await read(`${name}?limit=0&cursor=x`);
  expect(failure(answer)).toEqual([400, "validation_error"]);
  expect(invalidFields(answer)).toEqual(["cursor", "limit"]);
});

const keyPage = z.object({
  count: z.number(),
  nextCursor: z.string().nullable(),
  keys: z.array(z.looseObject({ keyId: z.number() })),
});

describe("GET /api/v1/admin/keys", () => {
  test("shows a wallet's keys, revoked ones too, by the start of their hash and never more of it", async () => {
    const wallet = newWallet();
    const [first, second] = [
      await issueKey(api.request, wallet),
      await issueKey(api.request, wallet, "paid"),
    ];
    await issueKey(api.request);
    await api.request("/api/v1/auth/me", { headers: first.headers });
    const rows = () => connection.sql<{ id: number; hash: string; used: Date | null; created: Date }[]>`
      select id::float8 as id, key_hash as hash, last_used_at as used, created_at as created
      from service.api_key where wallet = ${wallet.toLowerCase()} order by id`;
    await expect.poll(async () => (await rows())[0]?.used).toBeInstanceOf(Date);
    const revoked = await api.request(`/api/v1/keys/${second.keyId}`, { method: "DELETE", headers: admin });
    const { revokedAt } = z.object({ revokedAt: z.string() }).parse(revoked.json);
    const stored = await rows();

    const answer = await read(`keys?wallet=${wallet.toLowerCase()}`);
    const shown = { wallet, label: null };
    const [of1, of2] = stored.map(({ id, hash, used, created }) => ({
      ...shown,
      keyId: id,
      hashPrefix: hash.slice(0, 8),
      createdAt: created.toISOString(),
      lastUsedAt: used?.toISOString() ?? null,
    }));
    expect(answer.json).toEqual({
      count: 2,
      limit: 50,
      nextCursor: null,
      keys: [
        { ...of2, tier: "paid", revokedAt },
        { ...of1, tier: "free", revokedAt: null },
      ],
    });
    for (const { apiKey } of [first, second]) expect(answer.text).not.toContain(apiKey.slice(3));
    for (const { hash } of stored) expect(answer.text).not.toContain(hash.slice(8));
  });

  test("pages have every key once, newest first, while new ones are issued", async () => {
    for (let n = 0; n < 3; n += 1) await issueKey(api.request);
    const all = await connection.sql<{ id: number }[]>`
      select id::float8 as id from service.api_key order by id desc`;
    const seen: number[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const answer = await read(`keys?limit=2${cursor && `&cursor=${cursor}`}`);
      const page = keyPage.parse(answer.json);
      seen.push(...page.keys.map(({ keyId }) => keyId));
      cursor = page.nextCursor;
      await issueKey(api.request);
    }
    expect(seen).toEqual(all.map(({ id }) => id));
  });

  test("a wallet that is no address is named", async () => {
    expect(invalidFields(await read("keys?wallet=0x12"))).toEqual(["wallet"]);
  });
});

const webhookPage = z.object({
  backlog: z.unknown(),
  nextCursor: z.string().nullable(),
  webhooks: z.array(z.looseObject({ id: z.number() })),
});

describe("GET /api/v1/admin/webhooks", () => {
  test("shows what is behind, and of the URL its host alone; a webhook without a backlog is left out", async () => {
    const hook = await createWebhook(api, connection);
    const { sql } = connection;
    await sql`update service.webhook set url = 'https://hooks.example:8443/secret-path?token=t' where id = ${hook.id}`;
    expect(webhookPage.parse((await read("webhooks")).json).webhooks).toEqual([]);

    await hook.addDelivery(await hook.addEvent(), { state: "delivered" });
    await hook.addDelivery(await hook.addEvent(), { state: "pending", test: true });
    expect(webhookPage.parse((await read("webhooks")).json).webhooks).toEqual([]);

    const first = await hook.addDelivery(await hook.addEvent(), {
      state: "pending",
      failures: 2,
      inHours: 1,
    });
    await hook.addDelivery(await hook.addEvent(), { state: "pending" });
    const [oldest] = await sql<{ created: Date; next: Date }[]>`
      select created_at as created, next_attempt_at as next from service.delivery where id = ${first}`;
    const answer = await read("webhooks");
    expect(answer.json).toEqual({
      backlog: {
        pending: 3,
        oldestDueSeconds: expect.any(Number),
        undeliverable: 0,
        processedBlock: "1",
      },
      count: 1,
      limit: 50,
      nextCursor: null,
      webhooks: [
        {
          id: hook.id,
          chainId: 8453,
          wallet: hook.owner.wallet,
          host: "hooks.example:8443",
          state: "active",
          undeliverableSince: null,
          undelivered: 2,
          failures: 2,
          oldestPendingAt: oldest?.created.toISOString(),
          nextAttemptAt: oldest?.next.toISOString(),
        },
      ],
    });
    for (const hidden of ["secret-path", "token"]) expect(answer.text).not.toContain(hidden);
  });

  test("shows undeliverable ones with what they have missed, and deleted ones no more; pages go by id", async () => {
    const [one, two] = [await createWebhook(api, connection), await createWebhook(api, connection)];
    const { sql } = connection;
    await addEvents(connection, two, "missed", 4);
    await sql`
      insert into service.delivery (webhook_id, event_seq, state, failures)
      select ${two.id}, seq, 'undeliverable', 7 from service.event`;
    await Promise.all([one.markUndeliverable(0), two.markUndeliverable(0)]);
    const ids: number[] = [];
    let cursor: string | null = "0";
    while (cursor !== null) {
      const page = webhookPage.parse((await read(`webhooks?limit=1&cursor=${cursor}`)).json);
      ids.push(...page.webhooks.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(ids).toEqual([one.id, two.id]);
    const { backlog, webhooks } = webhookPage.parse((await read("webhooks")).json);
    expect(backlog).toMatchObject({ pending: 0, oldestDueSeconds: null, undeliverable: 2 });
    const since = expect.stringMatching(/Z$/);
    const undeliverable = { state: "undeliverable", undeliverableSince: since, nextAttemptAt: null };
    expect(webhooks).toMatchObject([
      { ...undeliverable, undelivered: 0, failures: null, oldestPendingAt: null },
      { ...undeliverable, undelivered: 4, failures: 7, oldestPendingAt: since },
    ]);
    await two.owner.call("DELETE", `/${two.id}`);
    expect(webhookPage.parse((await read("webhooks")).json).webhooks.map(({ id }) => id)).toEqual([one.id]);
  });
});
