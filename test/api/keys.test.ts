import { createHash } from "node:crypto";
import postgres from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { atEnd } from "../support/cleanup.ts";
import {
  admin,
  failure,
  invalidFields,
  issueKey,
  messageOf,
  newWallet,
  startApi,
  type TestApi,
} from "./support/api.ts";

/** For requests that issue no key. */
const wallet = newWallet();

let api: TestApi;
let sql: postgres.Sql;
beforeAll(async () => {
  api = await startApi({ env: { api: { LOG_LEVEL: "debug" } } });
  sql = postgres(api.stack.databaseUrl, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
});

const generate = (body: unknown, headers: Record<string, string> = admin) =>
  api.request("/api/v1/keys/generate", { headers, body });
const me = (headers: Record<string, string>) => api.request("/api/v1/auth/me", { headers });

describe("POST /api/v1/keys/generate", () => {
  test("returns the key with the checksummed wallet, and stores only the key's hash", async () => {
    const holder = newWallet();
    const answer = await generate({ wallet: holder.toLowerCase(), label: "bot", tier: "paid" });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ ok: true, wallet: holder, label: "bot", tier: "paid" });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const { apiKey, keyId } = z.object({ apiKey: z.string(), keyId: z.number() }).parse(answer.json);
    expect(apiKey).toMatch(/^lk_[0-9a-f]{64}$/);
    const rows = await sql`select * from service.api_key where id = ${keyId}`;
    expect(rows[0]?.key_hash).toBe(createHash("sha256").update(apiKey).digest("hex"));
    expect(JSON.stringify(rows)).not.toContain(apiKey);
    expect((await me({ "x-api-key": apiKey })).json).toMatchObject({
      ...{ ok: true, wallet: holder, tier: "paid", keyId },
    });
  });

  test("creates a new key each time, by default of the free tier and without a label", async () => {
    const body = { wallet: newWallet() };
    const [first, second] = [await generate(body), await generate(body)];
    expect(first.json).toMatchObject({ tier: "free", label: null });
    expect(first.json).not.toEqual(second.json);
  });

  test.each<[string, (address: string) => string]>([
    ["its checksum", (address) => address],
    ["lowercase", (address) => address.toLowerCase()],
    ["uppercase", (address) => `0x${address.slice(2).toUpperCase()}`],
    ["a wrong checksum", (address) => `${address.slice(0, 20)}${address.slice(20).toLowerCase()}`],
  ])("accepts a wallet address in %s", async (_, spell) => {
    const holder = newWallet();
    expect((await generate({ wallet: spell(holder) })).json).toMatchObject({ wallet: holder });
  });

  test("refuses a wallet its fourth active key, however it is spelled, until one is revoked", async () => {
    const holder = newWallet();
    const { keyId } = await issueKey(api.request, holder);
    for (let i = 0; i < 2; i += 1) await issueKey(api.request, holder);
    for (const spelling of [holder, holder.toLowerCase()]) {
      expect(failure(await generate({ wallet: spelling }))).toEqual([409, "cap_reached"]);
    }
    await api.request(`/api/v1/keys/${keyId}`, { method: "DELETE", headers: admin });
    expect((await generate({ wallet: holder })).status).toBe(201);
  });

  test.each([
    [{}, ["wallet"]],
    [{ wallet: null }, ["wallet"]],
    [{ wallet: "0x12" }, ["wallet"]],
    [{ wallet: `0X${wallet.slice(2)}` }, ["wallet"]],
    [{ wallet: ` ${wallet}` }, ["wallet"]],
    [{ wallet: [wallet] }, ["wallet"]],
    [{ wallet, label: 1, tier: "gold" }, ["label", "tier"]],
    [{ wallet, label: "x".repeat(101) }, ["label"]],
    [{ wallet, label: "a\u0000b" }, ["label"]],
  ])("the body %j gets 400 with the fields %j", async (body, fields) => {
    const answer = await generate(body);
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect(invalidFields(answer)).toEqual(fields);
  });

  test("stores a label in any script unchanged", async () => {
    for (const label of ["ключ 🔑 '; drop table service.api_key; --", "کلید می‌خواهم", "👩🏽‍💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️"])
      expect((await generate({ wallet: newWallet(), label })).json).toMatchObject({ label });
  });

  test.each([
    ["no token", {}],
    ["an empty token", { "x-admin-token": "" }],
    ["a wrong token", { "x-admin-token": "dev-admin-tokem" }],
    ["a longer token", { "x-admin-token": "dev-admin-token2" }],
    ["an API key instead", { "x-api-key": `lk_${"0".repeat(64)}` }],
  ])("%s gets 401", async (_, headers) => {
    expect(failure(await generate({ wallet }, headers))).toEqual([401, "unauthenticated"]);
  });
});

describe("an API key", () => {
  test.each([
    ["missing", {}],
    ["empty", { "x-api-key": "" }],
    ["too short", { "x-api-key": `lk_${"a".repeat(63)}` }],
    ["too long", { "x-api-key": `lk_${"a".repeat(65)}` }],
    ["not hex", { "x-api-key": `lk_${"g".repeat(64)}` }],
    ["without its prefix", { "x-api-key": "a".repeat(64) }],
    ["unknown", { "x-api-key": `lk_${"a".repeat(64)}` }],
    ["an unknown bearer token", { authorization: `Bearer lk_${"a".repeat(64)}` }],
    ["a bearer token that is no key", { authorization: "Bearer eyJhbGciOiJub25lIn0" }],
    ["an empty bearer token", { authorization: "Bearer" }],
    ["of another scheme", { authorization: `Basic lk_${"a".repeat(64)}` }],
  ])("that is %s gets 401", async (_, headers) => {
    expect(failure(await me(headers))).toEqual([401, "unauthenticated"]);
  });

  test("may be sent as a bearer token, also beside the other header", async () => {
    const { keyId, apiKey, headers } = await issueKey(api.request);
    for (const sent of [
      { authorization: `Bearer ${apiKey}` },
      { authorization: `bEARER  ${apiKey} ` },
      { authorization: `Bearer ${apiKey}`, ...headers },
      { authorization: "Basic dXNlcjpwYXNz", ...headers },
    ])
      expect((await me(sent)).json).toMatchObject({ keyId });
  });

  test("that differs between the two headers gets 401, also where none is needed", async () => {
    const [one, other] = [await issueKey(api.request), await issueKey(api.request)];
    const sent = { ...one.headers, authorization: `Bearer ${other.apiKey}` };
    for (const path of ["/api/v1/auth/me", "/api/v1/live-stats"]) {
      const answer = await api.request(path, { headers: sent });
      expect(failure(answer)).toEqual([401, "unauthenticated"]);
      expect(messageOf(answer)).toContain("different keys");
    }
    expect((await api.request("/health", { headers: sent })).status).toBe(200);
  });

  test.each(["x-api-key", "api_key", "apiKey", "key", "anything"])(
    "in the query parameter %s gets 401, even if the header has it too",
    async (name) => {
      const { apiKey, headers } = await issueKey(api.request);
      for (const more of [{}, headers]) {
        const answer = await api.request(`/api/v1/auth/me?${name}=${apiKey}`, { headers: more });
        expect(failure(answer)).toEqual([401, "unauthenticated"]);
        expect(messageOf(answer)).toContain("in the header x-api-key");
        expect(answer.text).not.toContain(apiKey);
      }
    },
  );

  const encoded = (key: string) => key.replace("l", "%6c").replace("_", "%5F");

  test.each([
    ["as it is", (key: string) => key],
    ["in capitals", (key: string) => key.toUpperCase()],
    ["percent-encoded", encoded],
  ])("in the path, %s, gets 401, even if the header has it too", async (_, written) => {
    const { apiKey, headers } = await issueKey(api.request);
    for (const [method, path, credential] of [
      ["DELETE", "/api/v1/agent/keys/", headers],
      ["GET", "/api/v1/purchases/", headers],
      ["DELETE", "/api/v1/keys/", admin],
    ] as const) {
      const answer = await api.request(`${path}${written(apiKey)}`, { method, headers: credential });
      expect(failure(answer)).toEqual([401, "unauthenticated"]);
      expect(messageOf(answer)).toContain("A key in the URL is refused");
    }
    expect((await me(headers)).status).toBe(200);
  });

  test("is never logged, wherever the request has it", async () => {
    const { apiKey, headers } = await issueKey(api.request);
    const headersOf = (name: string) => ({ ...headers, "x-request-id": name });
    await me(headers);
    await me({ authorization: `Bearer ${apiKey}` });
    await api.request(`/api/v1/auth/me?key=${apiKey}`);
    await api.request(`/nothing/${apiKey.slice(0, 10)}?key=${apiKey}`);
    await api.request(`/nothing/${apiKey}/${apiKey.toUpperCase()}`);
    await api.request(`/api/v1/purchases/${encoded(apiKey)}`, { headers });
    await api.request(`/api/v1/agent/keys/${apiKey}`, { method: "DELETE", headers: headersOf("last-one") });
    const output = () => api.stack.output("api");
    await expect.poll(output).toContain("last-one");
    expect(output()).toContain('"path":"/nothing/lk_…/lk_…"');
    expect(output()).toContain('"path":"/api/v1/agent/keys/lk_…"');
    expect(output().toLowerCase()).not.toContain(apiKey.slice(3));
  });

  test("has its last use recorded", async () => {
    const { keyId, headers } = await issueKey(api.request);
    await me(headers);
    await expect
      .poll(
        async () =>
          (await sql`select last_used_at from service.api_key where id = ${keyId}`)[0]?.last_used_at,
      )
      .toBeInstanceOf(Date);
  });
});

describe("DELETE /api/v1/keys/{id}", () => {
  const revoke = (id: string, headers: Record<string, string> = admin) =>
    api.request(`/api/v1/keys/${id}`, { method: "DELETE", headers });

  test("the key gets 401 from the next call on; a repeated revocation returns the same response", async () => {
    const { keyId, headers } = await issueKey(api.request);
    expect((await me(headers)).status).toBe(200);
    const first = await revoke(String(keyId));
    expect([first.status, first.json]).toEqual([200, expect.objectContaining({ ok: true, keyId })]);
    expect(failure(await me(headers))).toEqual([401, "unauthenticated"]);
    expect((await revoke(String(keyId))).json).toEqual(first.json);
  });

  test("the wallet's other keys stay valid", async () => {
    const holder = newWallet();
    const [one, other] = [await issueKey(api.request, holder), await issueKey(api.request, holder)];
    await revoke(String(one.keyId));
    expect((await me(other.headers)).status).toBe(200);
  });

  test.each([
    ["999999999", 404, "key_not_found"],
    ["0", 404, "key_not_found"],
    ["999999999999999", 404, "key_not_found"],
    ["abc", 400, "validation_error"],
    ["-1", 400, "validation_error"],
    ["1.5", 400, "validation_error"],
    ["9".repeat(16), 400, "validation_error"],
  ])("the id %s gets %i %s", async (id, status, code) => {
    expect(failure(await revoke(id))).toEqual([status, code]);
  });

  test("requires the admin token; a key cannot revoke itself here", async () => {
    const { keyId, headers } = await issueKey(api.request);
    expect(failure(await revoke(String(keyId), headers))).toEqual([401, "unauthenticated"]);
    expect((await me(headers)).status).toBe(200);
  });
});
