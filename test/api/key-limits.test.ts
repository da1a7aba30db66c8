/** Keys with limits: how they are issued and shown, and that no route lets a key do more than it may; and delegations to keys. */
import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type KeyScope, keyScopes } from "../../api/http/key-limits.ts";
import { anvilAccount } from "../../lib/chain/client.ts";
import { atEnd } from "../support/cleanup.ts";
import type { HttpAnswer } from "../support/http.ts";
import { fetchOpenApi } from "../support/openapi.ts";
import { permitBody, signPermit } from "../support/permit.ts";
import { admin, failure, invalidFields, issueKey, newWallet, startApi, type TestApi } from "./support/api.ts";
import { type Buyer, createBuyer } from "./support/buyer.ts";
import { delegationCalls } from "./support/delegation-calls.ts";
import { keyOf, ONBOARD, onboardingBody } from "./support/onboarding.ts";

/** The premium of 100 USDC of FLASHBTC1H-001. */
const PREMIUM = 292_000n;

let api: TestApi;
let buyer: Buyer;
let sql: postgres.Sql;
beforeAll(async () => {
  api = await startApi({ services: ["api", "writer"] });
  buyer = await createBuyer(api, anvilAccount(2));
  sql = postgres(api.stack.databaseUrl, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
});

const generate = (body: object) => api.request("/api/v1/keys/generate", { headers: admin, body });
const me = (headers: Record<string, string>) => api.request("/api/v1/auth/me", { headers });
const revokeOwn = (keyId: number, headers: Record<string, string>) =>
  api.request(`/api/v1/agent/keys/${keyId}`, { method: "DELETE", headers });

type Key = ReturnType<typeof keyOf>;
/** Runs with a key of the buyer with these limits, and revokes it: a wallet has three keys at most. */
async function withKey<T>(limits: object, run: (key: Key) => Promise<T>): Promise<T> {
  const key = keyOf(await generate({ wallet: buyer.account.address, ...limits }));
  try {
    return await run(key);
  } finally {
    await revokeOwn(key.keyId, key.headers);
  }
}

/** A purchase by the buyer with another key than its own. */
const buyWith = (headers: Record<string, string>, body: object = {}, more: Record<string, string> = {}) =>
  buyer.buy({ ...body }, { ...headers, ...more });

const countPurchases = async (): Promise<number> => {
  const [row] = await sql<{ n: number }[]>`select count(*)::int as n from service.purchase`;
  return row?.n ?? 0;
};
const outcome = (answer: HttpAnswer) => (answer.status < 300 ? String(answer.status) : failure(answer)[1]);

const limits = {
  scopes: ["read", "buy"],
  products: ["FLASHBTC1H-001", "FLASHETH24-001"],
  maxPremiumPerPurchase: "300000",
  maxPremiumPerDay: "1000000",
};
const unlimited = {
  scopes: [...keyScopes],
  products: null,
  maxPremiumPerPurchase: null,
  maxPremiumPerDay: null,
};

describe("a key's limits", () => {
  test("are set when it is issued, and shown with it, by auth/me, and in the wallet's list", async () => {
    const wallet = newWallet();
    const issued = await generate({ wallet, ...limits });
    expect([issued.status, issued.json]).toEqual([201, expect.objectContaining(limits)]);
    const { keyId, headers } = keyOf(issued);
    expect((await me(headers)).json).toEqual({
      ...{ ok: true, wallet, tier: "free", keyId },
      ...limits,
      premiumLeftToday: "1000000",
    });
    const listed = await api.request("/api/v1/agent/keys", { headers });
    expect(listed.json).toMatchObject({ keys: [{ keyId, ...limits }] });
  });

  test("are none by default: such a key may do everything", async () => {
    const issued = await generate({ wallet: newWallet() });
    expect(issued.json).toMatchObject(unlimited);
    expect((await me(keyOf(issued).headers)).json).toMatchObject({ ...unlimited, premiumLeftToday: null });
  });

  test("can be set by a wallet that issues itself a key", async () => {
    const account = privateKeyToAccount(generatePrivateKey());
    const answer = await api.request(ONBOARD, { body: { ...(await onboardingBody(account)), ...limits } });
    expect([answer.status, answer.json]).toEqual([201, expect.objectContaining(limits)]);
    expect((await me(keyOf(answer).headers)).json).toMatchObject(limits);
  });

  test("name products by name or id, in any case; an id without a name is shown as it is", async () => {
    const id = `0x${"Ab".repeat(32)}`;
    const known = "0xDC5BCC7d6e2e9ca89d46d4f6672db80985d5e86509243dcca44a4e87d871a7b9";
    const issued = await generate({ wallet: newWallet(), products: [known, id] });
    expect(issued.json).toMatchObject({ products: ["FLASHBTC24-001", id.toLowerCase()] });
  });

  test.each([
    [{ scopes: [] }, ["scopes"]],
    [{ scopes: ["write"] }, ["scopes.0"]],
    [{ scopes: "read" }, ["scopes"]],
    [{ scopes: {} }, ["scopes"]],
    [{ products: [] }, ["products"]],
    [{ products: ["FLASHBTC1H-001", "nothing"] }, ["products.1"]],
    [{ products: Array.from({ length: 51 }, (_, n) => `0x${String(n).padStart(64, "0")}`) }, ["products"]],
    [{ maxPremiumPerPurchase: 5 }, ["maxPremiumPerPurchase"]],
    [{ maxPremiumPerDay: "-1" }, ["maxPremiumPerDay"]],
    [{ maxPremiumPerDay: "1.5", scopes: [] }, ["maxPremiumPerDay", "scopes"]],
  ])("%j get 400 with the fields %j", async (body, fields) => {
    const answer = await generate({ wallet: newWallet(), ...body });
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect(invalidFields(answer)).toEqual(fields);
  });

  test("let it revoke itself, and no other key", async () => {
    const wallet = newWallet();
    const other = await issueKey(api.request, wallet);
    const { keyId, headers } = keyOf(await generate({ wallet, maxPremiumPerDay: "1" }));
    expect(failure(await revokeOwn(other.keyId, headers))).toEqual([403, "insufficient_scope"]);
    expect((await me(other.headers)).status).toBe(200);
    expect((await revokeOwn(keyId, headers)).status).toBe(200);
    expect((await me(headers)).status).toBe(401);
  });
});

/** The scopes of which one is enough, by operation. Every operation with a key must be entered here, and decided on. */
const scopesOf: Record<string, readonly KeyScope[]> = {
  getMe: keyScopes,
  revokeOwnKey: keyScopes,
  listKeys: ["read"],
  listOwnPolicies: ["read"],
  listWalletBonds: ["read"],
  signPriceProof: ["read"],
  getOracleSigner: ["read"],
  buyPolicy: ["buy"],
  getPurchase: ["read", "buy"],
  delegate: ["buy"],
  revokeDelegation: ["buy"],
  listDelegations: ["read", "buy"],
  reportRedemption: ["read", "buy"],
  reportListing: ["read", "buy"],
  reportListingPurchase: ["read", "buy"],
  getReport: ["read", "buy"],
};

test("each operation with a key needs one of its scopes", async () => {
  const { paths } = await fetchOpenApi(api.stack.apiUrl);
  const keys = await Promise.all(
    keyScopes.map(async (scope) => ({
      scope,
      ...keyOf(await generate({ wallet: newWallet(), scopes: [scope] })),
    })),
  );
  const allowed = new Map<string, KeyScope[]>();
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { operationId, security = [] }] of Object.entries(operations)) {
      // What anybody may read needs no scope, also with a key.
      const needsKey = security.length > 0 && security.every((one) => "apiKey" in one || "bearer" in one);
      if (!needsKey) continue;
      const may: KeyScope[] = [];
      for (const { scope, headers } of keys) {
        // A body and parameters that are not valid: they are looked at after the scope, and nothing is changed.
        const answer = await api.request(path.replace(/\{\w+\}/g, "x"), {
          method: method.toUpperCase(),
          headers,
          ...(method === "post" ? { body: [] } : {}),
        });
        if (answer.status !== 403) may.push(scope);
        else expect(failure(answer)).toEqual([403, "insufficient_scope"]);
      }
      allowed.set(operationId, may);
    }
  }
  const webhooks = [...allowed.keys()].filter((id) => /webhook|deliver|replay/i.test(id));
  expect(webhooks).toHaveLength(10);
  const expected = { ...scopesOf, ...Object.fromEntries(webhooks.map((id) => [id, ["webhooks"]])) };
  expect(Object.fromEntries(allowed)).toEqual(expected);
});

describe("a key without the scope `buy` cannot buy", () => {
  test.each<[string, (key: Key) => Promise<HttpAnswer>]>([
    ["for its wallet", ({ headers }) => buyWith(headers)],
    [
      "without waiting",
      ({ headers }) => buyWith(headers, {}, { prefer: "respond-async", "idempotency-key": randomUUID() }),
    ],
    [
      "with a permit",
      async ({ headers }) => {
        const permit = permitBody(await signPermit(api.chain, buyer.account, { value: PREMIUM }));
        return buyWith(headers, { permit });
      },
    ],
    ["for another wallet", ({ headers }) => buyWith(headers, { buyer: newWallet() })],
  ])("%s", async (_, buy) => {
    const before = await countPurchases();
    const answer = await withKey({ scopes: ["read", "webhooks"] }, buy);
    expect(failure(answer)).toEqual([403, "insufficient_scope"]);
    expect(await countPurchases()).toBe(before);
  });

  test("by repeating a purchase of another key of its wallet", async () => {
    const key = { "idempotency-key": randomUUID() };
    expect((await buyer.buy({}, key)).status).toBe(201);
    const answer = await withKey({ scopes: ["read"] }, ({ headers }) => buyWith(headers, {}, key));
    expect(failure(answer)).toEqual([403, "insufficient_scope"]);
  });
});

describe("a purchase", () => {
  test("of a product that the key may not buy gets 403", async () => {
    const answer = await withKey({ products: ["FLASHETH1H-001"] }, ({ headers }) => buyWith(headers));
    expect(failure(answer)).toEqual([403, "product_not_allowed"]);
  });

  test("above the key's premium per purchase gets 403 with both figures, and up to it buys", async () => {
    await withKey({ maxPremiumPerPurchase: String(PREMIUM) }, async ({ headers }) => {
      expect((await buyWith(headers)).status).toBe(201);
      const refused = await buyWith(headers, { coverageAmount: "100001000" });
      expect(failure(refused)).toEqual([403, "key_purchase_cap_exceeded"]);
      expect(refused.text).toMatch(/premium is 292002.* may spend 292000 /);
    });
  });

  test("above its `maxPremium` gets 422 and buys nothing; up to it buys, and repeated is the same", async () => {
    const key = { "idempotency-key": randomUUID() };
    const before = await countPurchases();
    const refused = await buyer.buy({ maxPremium: String(PREMIUM - 1n) }, key);
    expect(failure(refused)).toEqual([422, "premium_above_maximum"]);
    expect(await countPurchases()).toBe(before);
    const bought = await buyer.buy({ maxPremium: String(PREMIUM) }, key);
    expect(bought.status, bought.text).toBe(201);
    const again = await buyer.buy({ maxPremium: "1" }, key);
    expect([again.status, again.json]).toEqual([200, bought.json]);
  });

  test("at the key's premium per day gets 429 until the UTC day ends, also of simultaneous ones", async () => {
    await withKey({ maxPremiumPerDay: String(3n * PREMIUM) }, async ({ headers }) => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => buyWith(headers, {}, { "idempotency-key": randomUUID() })),
      );
      expect(answers.map(outcome).sort()).toEqual([
        ...["201", "201", "201"],
        ...Array<string>(5).fill("key_daily_cap_reached"),
      ]);
      const refused = answers.find(({ status }) => status === 429);
      const seconds = Number(refused?.headers.get("retry-after"));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(86_400);
      const left = z.object({ premiumLeftToday: z.string() });
      expect(left.parse((await me(headers)).json)).toEqual({ premiumLeftToday: "0" });
      await sql`update service.key_premium set day = day - 1`;
      expect(left.parse((await me(headers)).json)).toEqual({ premiumLeftToday: String(3n * PREMIUM) });
      expect((await buyWith(headers)).status).toBe(201);
    });
  });
});

describe("delegations", () => delegationCalls(() => api));
