import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { assetBytes32, productIdOf } from "../../lib/products.ts";
import {
  setGlobalPause,
  setPriceStale,
  setRelayer,
  setRouterPaused,
  setTokenPrice,
} from "../../scripts/local/protocol/actions/index.ts";
import { retiredTerms } from "../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { setSequencer } from "../support/protocol-actions.ts";
import { admin, failure, faultAt, invalidFields, messageOf, startApi, type TestApi } from "./support/api.ts";
import { type Buyer, createBuyer } from "./support/buyer.ts";
import { onboardingBody } from "./support/onboarding.ts";

let api: TestApi;
let buyer: Buyer;
beforeAll(async () => {
  api = await startApi();
  buyer = await createBuyer(api, anvilAccount(2));
});

const HUGE = String(2n ** 256n);
const id = productIdOf("FLASHBTC1H-001");
const stranger = anvilAccount(9).address;

test("two Idempotency-Key headers get 400: joined, they would be a key that no caller chose", async () => {
  const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(api.stack.apiUrl);
    const headers = { ...buyer.headers, "content-type": "application/json", "idempotency-key": ["a", "b"] };
    const sent = request(
      { hostname, port, path: "/api/v1/policies", method: "POST", headers },
      (response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode, text }));
      },
    );
    sent.on("error", reject);
    const body = { productName: "FLASHBTC1H-001", coverageAmount: "100000000", buyer: buyer.account.address };
    sent.end(JSON.stringify(body));
  });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text)).toMatchObject({
    error: "validation_error",
    details: [{ path: "Idempotency-Key", message: "must be sent once" }],
  });
});

describe("an invalid body gets 400 with the names of all invalid fields", () => {
  test("an empty body", async () => {
    const answer = await api.request("/api/v1/policies", { headers: buyer.headers, body: {} });
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect(invalidFields(answer)).toEqual(["buyer", "coverageAmount", "productId"]);
  });

  const wrong: [body: Record<string, unknown>, fields: string[]][] = [
    ...[
      undefined,
      null,
      100_000_000,
      "",
      "abc",
      "-100000000",
      "+100000000",
      "1e8",
      "100000000.0",
      " 100000000",
      "0x5f5e100",
      "１００００００００",
      HUGE,
      "9".repeat(79),
      "9".repeat(10_000),
      true,
      [],
      {},
      ["100000000"],
    ].map((coverageAmount): [Record<string, unknown>, string[]] => [{ coverageAmount }, ["coverageAmount"]]),
    ...[
      undefined,
      null,
      1,
      "",
      "0x",
      "nobody.eth",
      `0x${"1".repeat(39)}`,
      `0x${"1".repeat(41)}`,
      `0x${"g".repeat(40)}`,
      `0X${"1".repeat(40)}`,
      "1".repeat(42),
      [stranger],
    ].map((buyer): [Record<string, unknown>, string[]] => [{ buyer }, ["buyer"]]),
    ...[null, 7, "", "0x12", `${id}0`, id.slice(0, -1), id.slice(2), `0x${"z".repeat(64)}`, [id]].map(
      (productId): [Record<string, unknown>, string[]] => [
        { productId, productName: undefined },
        ["productId"],
      ],
    ),
    ...[7, [], {}].map((productName): [Record<string, unknown>, string[]] => [
      { productName },
      ["productName"],
    ]),
    ...["BTC", "0x425443", 1].map((asset): [Record<string, unknown>, string[]] => [{ asset }, ["asset"]]),
    [{ productName: undefined }, ["productId"]],
    [{ productId: productIdOf("FLASHETH1H-001") }, ["productId"]],
    [
      { coverageAmount: -1, buyer: 0, asset: 0, productId: 0 },
      ["asset", "buyer", "coverageAmount", "productId"],
    ],
  ];
  test.each(wrong)("%j", async (body, fields) => {
    const answer = await buyer.buy(body);
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect(invalidFields(answer)).toEqual(fields);
  });

  test.each([
    "FLASHBTC4H-001",
    "FLASHETH4H-001",
    "MICRODEPEG-001",
    "RATESHOCK-001",
    "FLASHETH72-001",
    "flashbtc1h-001",
    " FLASHBTC1H-001",
    "",
    "__proto__",
    "constructor",
    "toString",
    "x".repeat(60_000),
  ])("the name %.30s gets 400 unknown_product", async (productName) => {
    const answer = await buyer.buy({ productName });
    expect(failure(answer)).toEqual([400, "unknown_product"]);
    expect(messageOf(answer).length).toBeLessThan(400);
  });
});

describe("a name that is not documented gets 400 with it and the nearest known one, and buys nothing", () => {
  const permit = { value: "1", deadline: "1", signature: "0x" };
  test.each<[Record<string, unknown>, path: string, nearest: string]>([
    [{ max_premium: "1" }, "max_premium", "maxPremium"],
    [{ MaxPremium: "1" }, "MaxPremium", "maxPremium"],
    [{ maxPremiun: "1" }, "maxPremiun", "maxPremium"],
    [{ permit: { ...permit, valeu: "1" } }, "permit.valeu", "value"],
    [{ surprise: { deep: [1] } }, "surprise", ""],
  ])("%j", async (more, path, nearest) => {
    const answer = await buyer.buy(more);
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect(faultAt(answer, path)).toMatch(new RegExp(`^is unknown: .*${nearest}`));
  });

  test.each([
    ["/api/v1/policies?limit=5&ofset=1", "ofset", "offset"],
    ["/api/v1/policies/all?Status=Cancelled", "Status", "status"],
    ["/api/v1/policies/all?statuss=Cancelled", "statuss", "status"],
    ["/api/v1/agent/keys?Limit=5", "Limit", "limit"],
    ["/api/v1/auth/me?wallet=0x", "wallet", "nothing is taken"],
    ["/products?n=1", "n", "nothing is taken"],
    ["/health?n=1", "n", "nothing is taken"],
  ])("GET %s", async (path, name, said) => {
    const answer = await api.request(path, { headers: buyer.headers });
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect(faultAt(answer, name)).toContain(said);
  });

  test("a key with a misspelt limit is not issued", async () => {
    for (const name of ["scope", "maxPremiumPerday", "max_premium_per_day", "product"]) {
      const answer = await api.request("/api/v1/keys/generate", {
        headers: admin,
        body: { wallet: stranger, [name]: "1" },
      });
      expect(failure(answer)).toEqual([400, "validation_error"]);
      expect(faultAt(answer, name)).toMatch(
        /^is unknown: the nearest known name is (scopes|maxPremiumPerDay|products)$/,
      );
      const onboarding = await api.request("/api/v1/agent/onboard", {
        body: { ...(await onboardingBody(anvilAccount(9))), [name]: "1" },
      });
      expect(failure(onboarding)).toEqual([400, "invalid_body"]);
      expect(messageOf(onboarding)).toContain(`${name}: is unknown: the nearest known name is`);
    }
  });
});

test("without a key, an invalid body gets 401: the key is checked first", async () => {
  const answer = await api.request("/api/v1/policies", { body: { coverageAmount: "x" } });
  expect(failure(answer)).toEqual([401, "unauthenticated"]);
});

describe("a valid body that is refused", () => {
  test.each([
    [{ coverageAmount: "99999999" }, 422, "coverage_below_minimum"],
    [{ coverageAmount: "0" }, 422, "coverage_below_minimum"],
    [{ buyer: stranger }, 403, "buyer_not_authorized"],
    [{ productName: undefined, productId: productIdOf("nothing") }, 404, "invalid_product"],
    [
      { productName: undefined, productId: productIdOf("nothing"), asset: assetBytes32("BTC") },
      404,
      "invalid_product",
    ],
    [{ productName: undefined, productId: retiredTerms.productId }, 422, "shield_paused"],
  ])("%j gets %i %s", async (body, status, code) => {
    expect(failure(await buyer.buy(body))).toEqual([status, code]);
  });

  test("without a writer gets 503 relayer_unavailable", async () => {
    const key = { "idempotency-key": randomUUID() };
    const answer = await buyer.buy({}, key);
    expect(failure(answer)).toEqual([503, "relayer_unavailable"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("with a running writer", () => {
  beforeAll(async () => {
    await api.stack.start("writer");
    await waitFor({
      what: "the api to see the writer",
      probe: async () => ((await buyer.buy()).status === 201 ? true : undefined),
    });
  });
  const poll = { interval: 200 };

  test("a coverage above the vault's capacity gets 422, up to the largest uint256", async () => {
    for (const coverageAmount of ["6250000000002", String(2n ** 256n - 1n)]) {
      expect(failure(await buyer.buy({ coverageAmount }))).toEqual([422, "coverage_above_maximum"]);
    }
  });

  test("while the router is paused, the same Idempotency-Key and body return the same receipt", async () => {
    const key = { "idempotency-key": randomUUID() };
    const bought = await buyer.buy({}, key);
    await setRouterPaused(api.protocol, api.chain.owner, true);
    await expect.poll(async () => failure(await buyer.buy()), poll).toEqual([503, "contract_paused"]);
    const replay = await buyer.buy({}, key);
    expect([replay.status, replay.json]).toEqual([200, bought.json]);
    await setRouterPaused(api.protocol, api.chain.owner, false);
  });

  test.each([
    ["the cover router", setRouterPaused],
    ["the whole protocol", setGlobalPause],
  ])("a pause of %s gets 503 contract_paused, also when only the simulation sees it", async (paused, set) => {
    await set(api.protocol, api.chain.owner, true);
    const answer = await buyer.buy();
    expect(failure(answer)).toEqual([503, "contract_paused"]);
    expect(messageOf(answer)).toContain("ContractPaused");
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    // Once the api has read the pause itself, it does not ask for a simulation.
    await expect.poll(async () => messageOf(await buyer.buy()), poll).toContain(`${paused} is paused`);
    await set(api.protocol, api.chain.owner, false);
    await expect.poll(async () => (await buyer.buy()).status, poll).toBe(201);
  });

  test("a token price that is too low gets 503 contract_paused, an oracle without a price 503 oracle_stale", async () => {
    const { protocol } = api;
    const { owner } = api.chain;
    await setTokenPrice(protocol, owner, "0.004999");
    await expect.poll(async () => failure(await buyer.buy()), poll).toEqual([503, "contract_paused"]);
    await setPriceStale(protocol, owner, true);
    await expect.poll(async () => failure(await buyer.buy()), poll).toEqual([503, "oracle_stale"]);
    expect(messageOf(await buyer.buy())).toContain("OracleStale(");
    await setPriceStale(protocol, owner, false);
    await setTokenPrice(protocol, owner, "0.1");
    await expect.poll(async () => (await buyer.buy()).status, poll).toBe(201);
  });

  test("a purchase gets 503 relayer_unauthorized while the relayer is off the allowlist", async () => {
    const { relayer, owner } = api.chain;
    await setRelayer(api.protocol, owner, relayer.address, false);
    await expect.poll(async () => failure(await buyer.buy()), poll).toEqual([503, "relayer_unauthorized"]);
    const health = async () => (await api.stack.request("/health")).json;
    const reason = expect.objectContaining({ code: "relayer_unauthorized" });
    await expect
      .poll(health, poll)
      .toMatchObject({ status: "degraded", reasons: expect.arrayContaining([reason]) });
    await setRelayer(api.protocol, owner, relayer.address, true);
    await expect.poll(async () => (await buyer.buy()).status, poll).toBe(201);
  });

  test("a purchase gets 503 sequencer_down while the sequencer is down", async () => {
    await setSequencer(api.protocol, api.chain.owner, { down: true, startedAt: 0n });
    expect(failure(await buyer.buy())).toEqual([503, "sequencer_down"]);
  });
});
