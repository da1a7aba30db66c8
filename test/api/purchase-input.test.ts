import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { assetBytes32, productIdOf } from "../../lib/products.ts";
import {
  setGlobalPause,
  setProductPaused,
  setRelayer,
  setRouterPaused,
  setSequencer,
} from "../../scripts/local/protocol/actions/index.ts";
import { legacyTerms, withdrawnTerms } from "../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure, faultyFields, messageOf, startApi, type TestApi } from "./support/api.ts";
import { type Buyer, createBuyer } from "./support/buyer.ts";

let api: TestApi;
let buyer: Buyer;
beforeAll(async () => {
  api = await startApi();
  buyer = await createBuyer(api, anvilAccount(2));
});

const HUGE = String(2n ** 256n);
const id = productIdOf("FLASHBTC1H-001");
const stranger = anvilAccount(9).address;

test("an Idempotency-Key that is sent twice is 400: joined, they would be a key that nobody chose", async () => {
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
    const body = {
      productName: "FLASHBTC1H-001",
      coverageAmount: "100000000",
      buyer: buyer.account.address,
    };
    sent.end(JSON.stringify(body));
  });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text)).toMatchObject({
    error: "validation_error",
    details: [{ path: "Idempotency-Key", message: "must be sent once" }],
  });
});

describe("a body that is not what it should be is 400, and names every field that is wrong", () => {
  test("an empty one lacks them all", async () => {
    const answer = await api.request("/api/v1/policies", { headers: buyer.headers, body: {} });
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect(faultyFields(answer)).toEqual(["buyer", "coverageAmount", "productId"]);
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
    ...[null, 7, [], {}].map((productName): [Record<string, unknown>, string[]] => [
      { productName },
      ["productName"],
    ]),
    ...[null, "BTC", "0x425443", 1].map((asset): [Record<string, unknown>, string[]] => [
      { asset },
      ["asset"],
    ]),
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
    expect(faultyFields(answer)).toEqual(fields);
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
    "x".repeat(100_000),
  ])("the name %.30s is no product: unknown_product", async (productName) => {
    const answer = await buyer.buy({ productName });
    expect(failure(answer)).toEqual([400, "unknown_product"]);
    expect(messageOf(answer).length).toBeLessThan(400);
  });
});

test("keys come before bodies: without one nobody learns what is wrong", async () => {
  const answer = await api.request("/api/v1/policies", { body: { coverageAmount: "x" } });
  expect(failure(answer)).toEqual([401, "unauthenticated"]);
});

describe("a purchase that is well formed and not to be", () => {
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
    [{ productName: undefined, productId: withdrawnTerms.productId }, 422, "product_inactive"],
    [{ productName: undefined, productId: legacyTerms.productId }, 422, "shield_paused"],
  ])("%j is %i %s", async (body, status, code) => {
    expect(failure(await buyer.buy(body))).toEqual([status, code]);
  });

  test("without a writer at work it is 503 relayer_unavailable, and nothing waits in a queue for one", async () => {
    const key = { "idempotency-key": randomUUID() };
    const answer = await buyer.buy({}, key);
    expect(failure(answer)).toEqual([503, "relayer_unavailable"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("with a writer at work", () => {
  beforeAll(async () => {
    await api.stack.start("writer");
    await waitFor({
      what: "the api to see the writer",
      probe: async () => ((await buyer.buy()).status === 201 ? true : undefined),
      timeoutMs: 60_000,
    });
  });
  const settled = { timeout: 60_000, interval: 200 };

  test("a coverage above the vault's capacity is 422, up to the largest integer", async () => {
    for (const coverageAmount of ["6250000000002", String(2n ** 256n - 1n)]) {
      expect(failure(await buyer.buy({ coverageAmount }))).toEqual([422, "coverage_above_maximum"]);
    }
  });

  test("a replay is answered while nothing else can be sold", async () => {
    const key = { "idempotency-key": randomUUID() };
    const bought = await buyer.buy({}, key);
    await setRouterPaused(api.protocol, api.chain.owner, true);
    await expect.poll(async () => failure(await buyer.buy()), settled).toEqual([503, "contract_paused"]);
    const replay = await buyer.buy({}, key);
    expect([replay.status, replay.json]).toEqual([200, bought.json]);
    await setRouterPaused(api.protocol, api.chain.owner, false);
  });

  test.each([
    ["the router", setRouterPaused, true],
    ["the whole protocol", setGlobalPause, true],
  ])("a pause of %s is 503 contract_paused, also when it is seen by the simulation alone", async (_, set) => {
    await set(api.protocol, api.chain.owner, true);
    const answer = await buyer.buy();
    expect(failure(answer)).toEqual([503, "contract_paused"]);
    expect(messageOf(answer)).toContain("ContractPaused");
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    await set(api.protocol, api.chain.owner, false);
    await expect.poll(async () => (await buyer.buy()).status, settled).toBe(201);
  });

  test("a product that was paused is 422 shield_paused", async () => {
    await setProductPaused(api.protocol, api.chain.owner, id, true);
    await expect.poll(async () => failure(await buyer.buy()), settled).toEqual([422, "shield_paused"]);
    await setProductPaused(api.protocol, api.chain.owner, id, false);
    await expect.poll(async () => (await buyer.buy()).status, settled).toBe(201);
  });

  test("a relayer that is not on the allowlist is 503 relayer_unauthorized", async () => {
    const { relayer, owner } = api.chain;
    await setRelayer(api.protocol, owner, relayer.address, false);
    await expect.poll(async () => failure(await buyer.buy()), settled).toEqual([503, "relayer_unauthorized"]);
    await setRelayer(api.protocol, owner, relayer.address, true);
    await expect.poll(async () => (await buyer.buy()).status, settled).toBe(201);
  });

  test("a sequencer that is down is 503 sequencer_down", async () => {
    await setSequencer(api.protocol, api.chain.owner, { down: true, startedAt: 0n });
    expect(failure(await buyer.buy())).toEqual([503, "sequencer_down"]);
  });
});
