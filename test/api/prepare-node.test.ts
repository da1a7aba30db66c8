/**
 * Prepared transactions on a node that fails, and requests that are wrong. What this proves: an answer never depends on the
 * simulation, a wrong request names its field, and simulations are few at a time.
 */
import { numberToHex } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { productIdOf } from "../../lib/products.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { newBuyer, usdc } from "../support/ledger.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { type Interceptor, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { startStack, UNLIMITED } from "../support/stack.ts";
import { failure, invalidFields, issueKey } from "./support/api.ts";
import { type Action, prepare, prepareOnce, preparePaths } from "./support/prepare.ts";

const WALLET = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const PRODUCT = productIdOf("FLASHBTC1H-001");

/** Unlike that of client addresses. */
const KEY_LIMIT = "999999";

let chain: TestChain;
let node: RpcProxy;
let request: CheckedRequest;
let buyer: string;
beforeAll(async () => {
  chain = await startChain();
  buyer = (await newBuyer(chain)).address;
  node = await startRpcProxy(chain.url);
  const stack = await startStack({
    chain,
    services: ["api"],
    env: { api: { RPC_URL: node.url, FREE_KEY_RATE_LIMIT: KEY_LIMIT } },
  });
  request = await checkedRequests(stack.apiUrl);
});
beforeEach(() => node.intercept());

const purchase = () => ({
  from: buyer,
  productName: "FLASHBTC1H-001",
  coverageAmount: String(usdc(100)),
});

/** Handles the simulations of the node; other calls are forwarded. */
const onSimulation = (handle: Interceptor) =>
  node.intercept((call, forward, number) =>
    call.method === "eth_simulateV1" ? handle(call, forward, number) : forward(),
  );

describe("the answer is the same without its simulation", () => {
  test.each<[string, Interceptor, RegExp]>([
    [
      "lacks eth_simulateV1",
      async () => ({ error: { code: -32601, message: "the method does not exist" } }),
      /does not know eth_simulateV1/,
    ],
    ["fails", async () => ({ error: { code: -32000, message: "too busy" } }), /has not simulated/],
    ["hangs up", async () => "lost", /has not simulated/],
    ["simulates nothing", async () => ({ result: [] }), /has not simulated/],
  ])("where the node %s", async (_how, handle, reason) => {
    const usual = await prepare({ request }, "purchase", purchase());
    expect(usual).toMatchObject({ issues: [], simulation: { status: "ok" } });
    onSimulation(handle);
    const answer = await prepareOnce({ request }, "purchase", purchase());
    expect(answer).toEqual({
      ...usual,
      simulation: { status: "unknown", reason: expect.stringMatching(reason) },
    });
  });

  test("while four others are simulated", async () => {
    onSimulation(() => new Promise(() => {}));
    // Those that began end after two seconds: on a busy machine the others may come too late, and all are asked again.
    await expect
      .poll(async () => {
        const eight = Array.from({ length: 8 }, () => prepareOnce({ request }, "purchase", purchase()));
        return (await Promise.all(eight)).map(({ simulation }) => simulation);
      })
      .toContainEqual({ status: "unknown", reason: "Too many simulations are running; ask again later." });
  });
});

test("a node that answers nothing gives 503", async () => {
  node.intercept(async () => "lost");
  expect(failure(await request(preparePaths.purchase, { body: purchase() }))).toEqual([
    503,
    "chain_not_found",
  ]);
});

test("all reads and the simulation are of one block, also while blocks are mined", async () => {
  const asked: unknown[] = [];
  node.intercept(async (call, forward) => {
    if (call.method === "eth_call" || call.method === "eth_simulateV1") {
      asked.push(call.params[1]);
      await chain.client.mine({ blocks: 1 });
    }
    return forward();
  });
  const { asOf } = await waitFor({
    what: "a simulation in time",
    async probe() {
      asked.length = 0;
      const answer = await prepareOnce({ request }, "purchase", purchase());
      return answer.simulation.status === "ok" ? answer : undefined;
    },
  });
  expect(asked.length).toBeGreaterThan(10);
  expect(new Set(asked)).toEqual(new Set([numberToHex(BigInt(asOf.blockNumber))]));
});

test("a block that is reorganised away meanwhile is read again, once", async () => {
  let replaced = 0;
  /** The node has another block at the height that was read, so often. */
  const replace = (times: number) => {
    replaced = 0;
    node.intercept(async (call, forward) => {
      const answer = await forward();
      const isCheck = call.method === "eth_getBlockByNumber" && call.params[0] !== "latest";
      if (!isCheck || replaced === times || !("result" in answer)) return answer;
      replaced += 1;
      const block = z.looseObject({}).parse(answer.result);
      return { result: { ...block, hash: `0x${"ab".repeat(32)}` } };
    });
  };
  replace(1);
  expect(await prepare({ request }, "purchase", purchase())).toMatchObject({ issues: [] });
  expect(replaced).toBe(1);
  replace(2);
  const gone = await request(preparePaths.purchase, { body: purchase() });
  expect(failure(gone)).toEqual([503, "chain_not_found"]);
});

test("a revert of a contract's long reason is cut", async () => {
  onSimulation(async (_call, forward) => {
    const answer = await forward();
    return "result" in answer
      ? {
          result: [
            {
              ...(Array.isArray(answer.result) ? answer.result[0] : {}),
              calls: [{ status: "0x0", gasUsed: "0x1", logs: [], returnData: `0x${"ab".repeat(100_000)}` }],
            },
          ],
        }
      : answer;
  });
  const { simulation } = await prepare({ request }, "purchase", purchase());
  expect(simulation).toMatchObject({ status: "reverts", step: "purchase" });
  expect(simulation.reason?.length).toBeLessThanOrEqual(500);
});

const bodies: Record<Action, Record<string, string>> = {
  redeem: { from: WALLET, epochId: "202812", usdAmount: "1" },
  list: { from: WALLET, epochId: "202812", amount: "1", totalPriceUsdc: "1000000" },
  buy: { from: WALLET, listingId: "1" },
  cancel: { from: WALLET, listingId: "1" },
  withdraw: { from: WALLET },
  trigger: { from: WALLET, productId: PRODUCT, policyId: "1" },
  purchase: { from: WALLET, productId: PRODUCT, coverageAmount: "100000000" },
};
const fields = Object.entries(bodies).flatMap(([action, body]) =>
  Object.keys(body).map((field) => [action, field] as const),
);

describe("a wrong request names its field", () => {
  test.each(fields)("%s: %s", async (action, field) => {
    const path = Object.entries(preparePaths).find(([name]) => name === action)?.[1] ?? "";
    const body = Object.entries(bodies).find(([name]) => name === action)?.[1] ?? {};
    for (const value of [undefined, "", "0x1", "-1", "1e3", 1, null, [], {}, "9".repeat(79)]) {
      const answer = await request(path, { body: { ...body, [field]: value } });
      expect(failure(answer)).toEqual([400, "validation_error"]);
      expect(invalidFields(answer)).toEqual([field]);
    }
  });

  test("two names of different bonds, or of different products", async () => {
    const bond = await request(preparePaths.redeem, { body: { ...bodies.redeem, bondId: "202901" } });
    expect(invalidFields(bond)).toEqual(["bondId"]);
    const product = await request(preparePaths.purchase, {
      body: { ...bodies.purchase, productName: "FLASHETH1H-001" },
    });
    expect(invalidFields(product)).toEqual(["productId"]);
  });

  test.each<[Action, Record<string, string>, number, string]>([
    ["buy", bodies.buy, 404, "listing_not_found"],
    ["cancel", bodies.cancel, 404, "listing_not_found"],
    ["trigger", bodies.trigger, 404, "policy_not_found"],
    ["purchase", { ...bodies.purchase, productId: `0x${"ab".repeat(32)}` }, 404, "invalid_product"],
    ["purchase", { from: WALLET, productName: "no", coverageAmount: "1" }, 400, "unknown_product"],
  ])("%s of what there is not", async (action, body, status, code) => {
    expect(failure(await request(preparePaths[action], { body }))).toEqual([status, code]);
  });
});

test("a key is not needed, a bad one is ignored, and a valid one counts for its own limit", async () => {
  const limit = async (headers: Record<string, string>) => {
    const answer = await request(preparePaths.purchase, { headers, body: purchase() });
    expect(answer.status).toBe(200);
    return answer.headers.get("x-ratelimit-limit");
  };
  expect([await limit({}), await limit({ "x-api-key": "lk_no" })]).toEqual([UNLIMITED, UNLIMITED]);
  const { headers } = await issueKey(request);
  // A key that is not looked up within a second is ignored: on a busy machine the first may be.
  await expect.poll(() => limit(headers)).toBe(KEY_LIMIT);
});
