/** The rate limit of a key per minute in one process. */
import postgres from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import type { Stack } from "../support/stack.ts";
import { failure, issueKey, newWallet } from "./support/api.ts";
import { countAccepted, defaults, me, newKey } from "./support/key-limits.ts";
import {
  type Client,
  clientsOf,
  headerNumber,
  remaining,
  repeat,
  startLimitedApi,
  statuses,
} from "./support/rate-limits.ts";

let chain: TestChain;
beforeAll(async () => {
  chain = await startChain();
});

describe("one process", () => {
  let stack: Stack;
  let from: (address: string) => Client;
  let client: Client;
  let sql: postgres.Sql;
  beforeAll(async () => {
    // One of these tests reads the counts in Postgres; another file has the tests with Redis.
    stack = await startLimitedApi(chain, defaults, { redis: false });
    from = await clientsOf(stack);
    client = from("198.51.100.1");
    sql = postgres(stack.databaseUrl, { max: 1, onnotice: () => {} });
    atEnd(() => sql.end());
  });

  test("a free key has 10 requests per minute; every response, also an error, shows the remaining ones", async () => {
    const { request } = await newKey(client);
    const [invalid, unknown] = ["/api/v1/agent/keys?limit=0", "/api/v1/webhooks/999999/deliveries"];
    expect(await statuses(client, [me, invalid, unknown], request)).toEqual([...["200 9", "400 8", "404 7"]]);
    const bad = { ...request, body: {} };
    expect(await statuses(client, repeat(2, "/api/v1/policies"), bad)).toEqual(["400 6", "400 5"]);
    expect(await statuses(client, repeat(6, me), request)).toEqual([
      ...["200 4", "200 3", "200 2", "200 1", "200 0", "429 0"],
    ]);
    const refused = await client("/api/v1/policies", bad);
    expect(failure(refused)).toEqual([429, "rate_limit"]);
    const reset = headerNumber(refused, "x-ratelimit-reset");
    expect([headerNumber(refused, "x-ratelimit-limit"), remaining(refused)]).toEqual([10, 0]);
    expect(reset).toBeGreaterThan(0);
    expect(reset).toBeLessThanOrEqual(60);
    expect(headerNumber(refused, "retry-after")).toBe(reset);
  });

  test("waiting for a purchase does not use up the key's requests; its reads have a limit of their own", async () => {
    const { request } = await newKey(client);
    const purchase = "/api/v1/purchases/5f0c4f1e-6d1b-4f0a-9a53-0d9b8f6c2b11";
    const read = [...[4, 3, 2, 1, 0].map((left) => `404 ${left}`), "429 0"];
    expect(await statuses(client, [me], request)).toEqual(["200 9"]);
    expect(await statuses(client, repeat(6, purchase), request)).toEqual(read);
    expect(await statuses(client, [me], request)).toEqual(["200 8"]);
    const other = await newKey(client);
    expect(await statuses(client, [purchase], other.request)).toEqual(["404 4"]);
  });

  test("public reads with a key use up the key's limit, and not the address's", async () => {
    const { request } = await newKey(client);
    const read = "/api/v1/live-stats";
    expect(await statuses(client, [me, ...repeat(10, read)], request)).toEqual([
      ...[9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((left) => `200 ${left}`),
      "429 0",
    ]);
    expect(failure(await client(read, request))).toEqual([429, "rate_limit"]);
    expect(await statuses(client, repeat(6, read))).toEqual([
      ...[4, 3, 2, 1, 0].map((left) => `200 ${left}`),
      "429 0",
    ]);
  });

  test("of simultaneous requests a free key gets exactly 10, and a paid key exactly 100", async () => {
    expect(await countAccepted([client], 60, (await newKey(client)).request)).toBe(10);
    expect(await countAccepted([client], 160, (await newKey(client, "paid")).request)).toBe(100);
  });

  test("the limit belongs to the key: another key of the wallet has its own, another address shares it", async () => {
    const wallet = newWallet();
    const [one, other] = [await newKey(client, "free", wallet), await newKey(client, "free", wallet)];
    const elsewhere = from("198.51.100.99");
    expect(await countAccepted([client, elsewhere], 20, one.request)).toBe(10);
    expect(await statuses(client, [me], other.request)).toEqual(["200 9"]);
  });

  test("a wrong spelling of the key gets 401 and does not count against it", async () => {
    const { headers } = await issueKey(client);
    const key = headers["x-api-key"];
    const stranger = from("198.51.100.98");
    for (const spelling of [key.toUpperCase(), `${key}, ${key}`, `${key}0`]) {
      expect((await stranger(me, { headers: { "x-api-key": spelling } })).status).toBe(401);
    }
    expect(await statuses(client, [me], { headers: { "x-api-key": ` ${key} ` } })).toEqual(["200 9"]);
    expect(await statuses(client, [me], { headers })).toEqual(["200 8"]);
  });

  test("a flood of invalid keys is limited by its address, and does not count against valid keys", async () => {
    const { request } = await newKey(client);
    const flooder = from("198.51.100.96");
    const guesses = repeat(60, me).map((path, i) => {
      const key = `lk_${String(i).padStart(64, "0")}`;
      return flooder(path, { headers: { "x-api-key": key } });
    });
    const answers = (await Promise.all(guesses)).map((answer) => failure(answer).join(" "));
    expect(answers.filter((answer) => answer === "401 unauthenticated")).toHaveLength(3);
    expect(answers.filter((answer) => answer === "429 rate_limit")).toHaveLength(57);
    expect(await statuses(flooder, [me], request)).toEqual(["200 9"]);
    expect(await statuses(client, [me], request)).toEqual(["200 8"]);
  });

  test("the limit resets after its minute", async () => {
    const { keyId, request } = await newKey(client);
    expect(await statuses(client, [me, me], request)).toEqual(["200 9", "200 8"]);
    await sql`update service.rate_limit set expire = ${Date.now() - 1} where key like ${`%free-keys:${keyId}`}`;
    expect(await statuses(client, [me], request)).toEqual(["200 9"]);
  });

  test("the last use is written at most once a minute", async () => {
    const { keyId, request } = await newKey(client, "paid");
    const lastUse = async (): Promise<Date> =>
      (await sql`select last_used_at from service.api_key where id = ${keyId}`)[0]?.last_used_at;
    const setBack = async (seconds: number): Promise<Date> => {
      const [row] =
        await sql`update service.api_key set last_used_at = now() - make_interval(secs => ${seconds})
        where id = ${keyId} returning last_used_at`;
      return row?.last_used_at;
    };
    await countAccepted([client], 20, request);
    await expect.poll(lastUse).toBeInstanceOf(Date);
    const recent = await setBack(50);
    await client(me, request);
    await client(me, request);
    expect(await lastUse()).toEqual(recent);
    const old = await setBack(61);
    await client(me, request);
    await expect.poll(async () => (await lastUse()) > old).toBe(true);
    expect(Date.now() - (await lastUse()).getTime()).toBeLessThan(60_000);
  });

  test("a public read does not wait for a key that cannot be counted: it counts for its address", async () => {
    const { request } = await newKey(client, "paid");
    const reader = from("198.51.100.95");
    const keyed = await sql.begin(async (tx) => {
      await tx`lock table service.rate_limit in access exclusive mode`;
      const waiting = client(me, request);
      expect(await statuses(reader, ["/api/v1/live-stats"], request)).toEqual(["200 4"]);
      return { waiting };
    });
    // The read was answered long before the count; 503 where that has timed out, as on a busy machine.
    expect([200, 503]).toContain((await keyed.waiting).status);
  });
});
