/** What the client sends for an order and for a key, and how it takes the answers. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { shouldRetry } from "../../api/http/should-retry.ts";
import { createCoverClient, isRetryable, type Purchase, PurchaseFailed } from "../../client/index.ts";
import { errorStatus } from "../../lib/errors.ts";
import * as failures from "../../workers/relayer/purchase-failures.ts";
import { json, type Reply, serve } from "./support/replies.ts";

const productId = `0x${"e8".repeat(32)}`;
/** In lowercase: it does not show its checksum, so that it signs the message with the time. */
const address = `0x${"ab".repeat(20)}`;
const retries = { delaysMs: [1, 1], longestWaitMs: 0 };

/** A wallet that signs everything, and counts. */
function signingWallet() {
  const asked: string[] = [];
  const provider = {
    async request({ method }: { method: string }) {
      asked.push(method);
      return "0x11";
    },
  };
  return { wallet: { address, provider }, asked };
}

const refusal = (code: keyof typeof errorStatus) =>
  json(errorStatus[code], { error: code, code, message: `It is ${code}.`, details: null });

describe("an order with maxPremium", () => {
  const order = {
    product: productId,
    coverageAmount: 100_000_000n,
    maxPremium: 292_000n,
    idempotencyKey: "one",
  };
  const receipt = {
    ...{ ok: true, purchaseId: "700bf5d5-c0cc-4436-94de-27031b1d28ee", txHash: productId, blockNumber: 7 },
    ...{ policyId: "1", buyer: address, productId, coverageAmount: "100000000", premiumPaid: "292000" },
  };
  const permit = { value: "292001", deadline: "1767225600" };
  const prepared = json(200, {
    issues: [],
    steps: [
      {
        ...{ id: "permit", kind: "signature", status: "incomplete", optional: false },
        typedData: { message: { ...permit, nonce: "0" } },
        report: { body: { productId, permit } },
      },
    ],
  });
  const quote = json(200, { premium: "292001" });

  test("is refused while the premium is higher, and its wallet is asked for nothing", async () => {
    const { baseUrl, seen } = await serve(prepared, quote, refusal("premium_above_maximum"));
    const { wallet, asked } = signingWallet();
    const buying = createCoverClient({ baseUrl, wallet, retries }).buy(order);
    await expect(buying).rejects.toMatchObject({ name: "ApiError", code: "premium_above_maximum" });
    expect(asked).toEqual([]);
    expect(seen.at(-1)).toMatchObject({ url: "/api/v1/policies", body: { maxPremium: "292000" } });
  });

  test("that was bought before finds its policy, although the premium is higher now", async () => {
    const { baseUrl, seen } = await serve(prepared, quote, json(200, receipt));
    const { wallet, asked } = signingWallet();
    const pending = await createCoverClient({ baseUrl, wallet, retries }).buy(order);
    expect(await pending.wait()).toMatchObject({ policyId: 1n, premiumPaid: 292_000n });
    expect(asked).toEqual([]);
    expect(seen.at(-1)?.headers).toMatchObject({ "idempotency-key": "one", prefer: "respond-async" });
  });

  test("whose permit is refused is neither signed nor sent again, where the next permit would be the same", async () => {
    const details = [{ path: "permit.signature", message: "USDC would refuse the permit" }];
    const body = { error: "invalid_permit", code: "invalid_permit", message: "No.", details };
    const { baseUrl, seen } = await serve(prepared, json(422, body), prepared);
    const { wallet, asked } = signingWallet();
    const { maxPremium: _, ...unlimited } = order;
    const buying = createCoverClient({ baseUrl, wallet, retries }).buy(unlimited);
    await expect(buying).rejects.toMatchObject({ name: "ApiError", code: "invalid_permit" });
    expect(asked).toEqual(["eth_signTypedData_v4"]);
    expect(seen.map(({ url }) => url)).toEqual([
      "/api/v1/policies/prepare",
      "/api/v1/policies",
      "/api/v1/policies/prepare",
    ]);
  });

  test("leaves the limit to the service, which sees the premium of the moment", async () => {
    const { baseUrl, seen } = await serve(json(200, receipt));
    await createCoverClient({ baseUrl, retries }).buy({ ...order, buyer: address });
    expect(seen).toMatchObject([{ url: "/api/v1/policies", body: { buyer: address, maxPremium: "292000" } }]);
  });
});

test("an order that was lost or refused for a time names its key, and ordering again with it orders the same", async () => {
  const order = { product: productId, coverageAmount: 100_000_000n };
  const lost: Reply = (request) => request.socket.destroy();
  const away = refusal("database_unavailable");
  const step = { kind: "signature", status: "complete" };
  const open = json(200, { issues: [], steps: [step] });
  const purchase = json(202, { purchaseId: "1" });
  const { baseUrl, seen } = await serve(open, lost, away, away, away, away, away, open, purchase);
  const cover = createCoverClient({ baseUrl, wallet: signingWallet().wallet, retries });
  let idempotencyKey: string | undefined;
  const failures: string[] = [];
  const orderAgain = (): Promise<unknown> =>
    cover.buy({ ...order, idempotencyKey }).catch((error: unknown) => {
      if (!isRetryable(error)) throw error;
      failures.push(error.name);
      idempotencyKey = error.idempotencyKey;
      return orderAgain();
    });
  expect(await orderAgain()).toMatchObject({ purchaseId: "1" });
  // The second order fails in the call that prepares it, and its error names the key all the same.
  expect(seen.map(({ url }) => url === "/api/v1/policies")).toEqual([
    ...[false, true, true, true],
    ...[false, false, false],
    ...[false, true],
  ]);
  expect(failures).toEqual(["ApiError", "ApiError"]);
  const keys = seen.map(({ headers }) => headers["idempotency-key"]).filter((key) => key !== undefined);
  expect([keys.length, new Set(keys).size]).toEqual([4, 1]);
});

describe("a purchase that failed", () => {
  const reverts = ["ERC20InsufficientBalance", "ContractPaused", "SEQUENCER_DOWN", "ORACLE_STALE"];
  const others = ["ProductInactive", "InsufficientCapacity", "NotAuthorizedRelayer"];
  const known = [
    ...[...reverts, ...others].map((name) => failures.simulatedFailure({ name, text: name, data: "0x" })),
    ...[failures.premiumRisen(1n, 2n), failures.operatorStopped, failures.buyerPaused],
    ...[failures.delegationEnded, failures.walletBudgetSpent, failures.dayBudgetSpent],
    ...[failures.noRelayerCouldPay, failures.replacedFailure(1n), failures.chainNotAnswering],
    failures.notSignedInTime,
  ];

  test.each([...new Set(known.map(({ code }) => code))])(
    "with %s is as retryable as the API says",
    (code) => {
      const purchase: Purchase = {
        ...{ purchaseId: "1", state: "failed", createdAt: "2026-01-01T00:00:00.000Z", productId },
        ...{ coverageAmount: 1n, asset: productId, buyer: address, txHash: null, receipt: null },
        failure: { error: code, message: "It failed." },
      };
      const call = { method: "POST", path: "/api/v1/policies" };
      expect(new PurchaseFailed(purchase).retryable).toBe(
        shouldRetry({ code, status: errorStatus[code] }, call),
      );
    },
  );
});

describe("a key", () => {
  const limits = {
    ...{ scopes: ["read", "buy"] as const, products: ["FLASHBTC1H-001"] },
    ...{ maxPremiumPerPurchase: 10_000_000n, maxPremiumPerDay: 50_000_000n },
  };
  const shown = { ...limits, maxPremiumPerPurchase: "10000000", maxPremiumPerDay: "50000000" };

  test("is made with limits, whose amounts are bigints, as they are when it is read", async () => {
    const issued = { ok: true, keyId: 7, apiKey: "lk_", ...shown };
    const me = { ok: true, keyId: 7, ...shown, premiumLeftToday: "47400000" };
    const { baseUrl, seen } = await serve(json(201, issued), json(200, me), json(200, { keys: [me] }));
    const { wallet } = signingWallet();
    const guest = createCoverClient({ baseUrl, retries });
    expect(await guest.onboard(wallet, { label: "agent", ...limits })).toEqual({ ...issued, ...limits });
    expect(seen[0]?.body).toEqual({
      ...{ walletAddress: address, signature: "0x11", timestamp: expect.any(Number), label: "agent" },
      ...shown,
    });
    expect(await guest.keys.me()).toMatchObject({ ...limits, premiumLeftToday: 47_400_000n });
    expect(await guest.keys.list()).toMatchObject([limits]);
  });

  test("is for the API's public address where the client calls another one", async () => {
    const health = json(200, { chain: { chainId: 8453 } });
    const { baseUrl, seen } = await serve(health, json(201, { ok: true, keyId: 9 }));
    const checked = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
    const wallet = { ...signingWallet().wallet, address: checked };
    await createCoverClient({ baseUrl, retries }).onboard(wallet, { site: "https://cover.example/api" });
    expect(Object.keys(Object(seen[1]?.body)).sort()).toEqual(["message", "signature", "walletAddress"]);
    const message = String(Reflect.get(Object(seen[1]?.body), "message"));
    expect(message).toMatch(/^cover\.example wants you .*\nURI: https:\/\/cover\.example\n/s);
  });

  test("is bound to its limits and to the key that it replaces by the message that the wallet signs", async () => {
    const health = json(200, { chain: { chainId: 8453 } });
    const { baseUrl, seen } = await serve(health, json(201, { ok: true, keyId: 9, ...shown }));
    const guest = createCoverClient({ baseUrl, retries });
    const wallet = { ...signingWallet().wallet, address: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC" };
    await guest.onboard(wallet, { ...limits, replaces: 7 });
    const { message } = z.object({ message: z.string() }).parse(seen[1]?.body);
    expect(message.split("Resources:\n- ")[1]?.split("\n- ")).toEqual([
      "urn:parametric-cover:replaces:7",
      "urn:parametric-cover:scopes:read,buy",
      "urn:parametric-cover:products:FLASHBTC1H-001",
      "urn:parametric-cover:max-premium-per-purchase:10000000",
      "urn:parametric-cover:max-premium-per-day:50000000",
    ]);
    const unchecked = guest.onboard(signingWallet().wallet, { replaces: 7 });
    await expect(unchecked).rejects.toThrow("the wallet's address with its checksum");
    expect(seen).toHaveLength(2);
  });

  test("whose message was used is asked for again with a message of a later second", async () => {
    const { baseUrl, seen } = await serve(refusal("signature_used"), json(201, { ok: true, keyId: 8 }));
    await createCoverClient({ baseUrl, retries }).onboard(signingWallet().wallet);
    const [first, second] = seen.map(({ body }) => Number(Reflect.get(Object(body), "timestamp")));
    expect(second).toBeGreaterThan(Number(first));
  });
});
