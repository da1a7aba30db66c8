/** A wallet lists and revokes its own keys, and lists its policies. */
import { createHash } from "node:crypto";
import { parseUnits } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { anvilAccount } from "../../lib/chain/client.ts";
import { approveUsdc, mintUsdc, purchase } from "../../scripts/local/protocol/actions/index.ts";
import { catalogueTerms } from "../../scripts/local/protocol/terms.ts";
import { checkedRequests } from "../support/openapi.ts";
import { startStack } from "../support/stack.ts";
import { admin, failure, invalidFields, issueKey, startApi, type TestApi } from "./support/api.ts";
import { keyOf, now, ONBOARD, onboardAccount, onboardingBody } from "./support/onboarding.ts";

const [account, stranger] = [anvilAccount(2), anvilAccount(3)];

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ services: ["api", "indexer"] });
  await issueKey(api.request); // returns once the tables exist
});

type Headers = Record<string, string>;
const list = (headers: Headers, query = "") => api.request(`/api/v1/agent/keys${query}`, { headers });
const revoke = (keyId: number | string, headers: Headers) =>
  api.request(`/api/v1/agent/keys/${keyId}`, { method: "DELETE", headers });
const me = (headers: Headers) => api.request("/api/v1/auth/me", { headers });

const shape = z.object({
  total: z.number(),
  keys: z.array(
    z.looseObject({ keyId: z.number(), current: z.boolean(), lastUsedAt: z.string().nullable() }),
  ),
});

describe("GET /api/v1/agent/keys", () => {
  test("lists the wallet's active keys, oldest first, without the keys themselves", async () => {
    const body = { ...(await onboardingBody(account)), label: "first" };
    const first = keyOf(await api.request(ONBOARD, { body }));
    const second = await issueKey(api.request, account.address, "paid");
    const revoked = await onboardAccount(api.request, account, now() - 100);
    const foreign = await onboardAccount(api.request, stranger);
    await revoke(revoked.keyId, first.headers);

    const answer = await list(first.headers);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.json).toMatchObject({
      wallet: account.address,
      count: 2,
      total: 2,
      keys: [
        {
          ...{ keyId: first.keyId, label: "first", tier: "free", current: true, revokedAt: null },
          createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
          hashPrefix: createHash("sha256").update(first.headers["x-api-key"]).digest("hex").slice(0, 8),
        },
        { keyId: second.keyId, label: null, tier: "paid", current: false, lastUsedAt: null },
      ],
    });
    for (const { headers } of [first, second, revoked, foreign]) {
      expect(answer.text).not.toContain(headers["x-api-key"].slice(3));
    }
    const lastUse = async () => shape.parse((await list(first.headers)).json).keys[0]?.lastUsedAt;
    await expect.poll(lastUse).not.toBeNull();
    expect(Date.now() - Date.parse((await lastUse()) ?? "")).toBeLessThan(60_000);

    const page = shape.parse((await list(first.headers, "?limit=1&offset=1")).json);
    expect([page.total, page.keys.map(({ keyId }) => keyId)]).toEqual([2, [second.keyId]]);
    expect(shape.parse((await list(first.headers, "?offset=7")).json)).toMatchObject({ total: 2, keys: [] });
  });

  test.each(["?limit=0", "?limit=101", "?offset=-1", "?limit=x"])("%s gets 400", async (query) => {
    const { headers } = await issueKey(api.request);
    expect(failure(await list(headers, query))).toEqual([400, "validation_error"]);
  });

  test("requires a key; the admin token gets 401", async () => {
    expect(failure(await list({}))).toEqual([401, "unauthenticated"]);
    expect(failure(await list(admin))).toEqual([401, "unauthenticated"]);
  });
});

describe("DELETE /api/v1/agent/keys/{keyId}", () => {
  test("revokes the key at once in every process; a repeated call returns the same response", async () => {
    const { databaseUrl } = api.stack;
    const other = await startStack({ chain: api.chain, services: ["api"], databaseUrl });
    const elsewhere = await checkedRequests(other.apiUrl);
    const owner = anvilAccount(4);
    const [old, kept] = [
      await onboardAccount(api.request, owner),
      await onboardAccount(api.request, owner, now() - 100),
    ];
    expect((await elsewhere("/api/v1/auth/me", { headers: old.headers })).status).toBe(200);
    const first = await revoke(old.keyId, kept.headers);
    expect([first.status, first.json]).toEqual([
      200,
      expect.objectContaining({ ok: true, keyId: old.keyId }),
    ]);
    expect(failure(await elsewhere("/api/v1/auth/me", { headers: old.headers }))).toEqual([
      401,
      "unauthenticated",
    ]);
    expect(failure(await me(old.headers))).toEqual([401, "unauthenticated"]);
    expect((await revoke(old.keyId, kept.headers)).json).toEqual(first.json);
    expect((await me(kept.headers)).status).toBe(200);
  });

  test("a key can revoke itself; the wallet can then onboard another key", async () => {
    const owner = anvilAccount(5);
    const keys = [];
    for (let i = 0; i < 3; i += 1) keys.push(await onboardAccount(api.request, owner, now() - 100 * i));
    const another = { body: await onboardingBody(owner, { timestamp: now() - 50 }) };
    expect(failure(await api.request(ONBOARD, another))).toEqual([409, "cap_reached"]);
    const [key] = keys;
    if (!key) throw new Error("no key was made");
    expect((await revoke(key.keyId, key.headers)).status).toBe(200);
    expect((await api.request(ONBOARD, another)).status).toBe(201);
  });

  test("another wallet's key gets 404 and stays valid", async () => {
    const foreign = await onboardAccount(api.request, anvilAccount(6));
    const { headers } = await issueKey(api.request);
    expect(failure(await revoke(foreign.keyId, headers))).toEqual([404, "key_not_found"]);
    expect((await me(foreign.headers)).status).toBe(200);
  });

  test.each([
    ["0", 404, "key_not_found"],
    ["999999999999999", 404, "key_not_found"],
    ["abc", 400, "validation_error"],
    ["-1", 400, "validation_error"],
    ["9".repeat(16), 400, "validation_error"],
  ])("the id %s gets %i %s", async (id, status, code) => {
    const { headers } = await issueKey(api.request);
    expect(failure(await revoke(id, headers))).toEqual([status, code]);
  });
});

describe("GET /api/v1/policies", () => {
  const own = (headers: Headers, query = "") => api.request(`/api/v1/policies${query}`, { headers });
  const buyer = anvilAccount(7);
  let headers: Headers;
  beforeAll(async () => {
    ({ headers } = await issueKey(api.request, buyer.address));
    const { protocol, chain } = api;
    const [terms] = catalogueTerms;
    if (!terms) throw new Error("the catalogue is empty");
    await mintUsdc(protocol, buyer, buyer.address, parseUnits("1000", 6));
    await approveUsdc(protocol, buyer, chain.deployment.contracts.coverRouter);
    for (const coverage of [100_000_000n, 200_000_000n]) {
      await purchase(protocol, buyer, terms, coverage);
    }
  });

  test("returns the indexed policies of the key's wallet, as /policies/by-buyer does", async () => {
    await expect.poll(async () => (await own(headers)).json).toMatchObject({ total: 2 });
    const answer = await own(headers);
    const { address } = buyer;
    expect(answer.json).toEqual((await api.request(`/api/v1/policies/by-buyer/${address}`)).json);
    expect((await own(headers, `?owner=${address}`)).json).toEqual(answer.json);
    expect((await own(headers, `?owner=${address.toLowerCase()}`)).json).toEqual(answer.json);
    expect((await own(headers, "?limit=1&offset=1")).json).toMatchObject({ count: 1, total: 2, offset: 1 });
    expect(answer.headers.get("x-indexed-block")).toMatch(/^\d+$/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("requires a key; another wallet's key sees only its own policies", async () => {
    expect((await own(headers)).status).toBe(200);
    expect(failure(await own({}))).toEqual([401, "unauthenticated"]);
    const { headers: others } = await issueKey(api.request, stranger.address);
    expect((await own(others)).json).toMatchObject({ buyer: stranger.address, total: 0, policies: [] });
    expect(failure(await own(others, `?owner=${buyer.address}`))).toEqual([403, "forbidden"]);
  });

  test.each([
    ["?owner=0x12", "owner"],
    ["?limit=101", "limit"],
    ["?cursor=x", "cursor"],
  ])("%s gets 400 with the field's name", async (query, field) => {
    const answer = await own(headers, query);
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect(invalidFields(answer)).toEqual([field]);
  });
});
