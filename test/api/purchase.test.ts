import { randomBytes, randomUUID } from "node:crypto";
import { type Address, getAddress } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { anvilAccount } from "../../lib/chain/client.ts";
import { assetBytes32, catalogue, productIdOf } from "../../lib/products.ts";
import * as act from "../support/protocol-actions.ts";
import { expectLogged, newTrace } from "../support/trace.ts";
import { failure, messageOf, startApi, type TestApi } from "./support/api.ts";
import { type Buyer, createBuyer, createKeyHolder, receiptOf } from "./support/buyer.ts";

let api: TestApi;
let buyer: Buyer;
let other: Buyer;
beforeAll(async () => {
  api = await startApi({ services: ["api", "writer"] });
  buyer = await createBuyer(api, anvilAccount(2));
  other = await createBuyer(api, anvilAccount(3));
});

const nonceOf = (address: Address) => api.chain.client.getTransactionCount({ address });
const relayerNonce = () => nonceOf(api.chain.relayer.address);
const readPurchase = (id: string, headers: Record<string, string>) =>
  api.request(`/api/v1/purchases/${id}`, { headers });

describe("buying a policy", () => {
  test.each(catalogue)("$name by name and by id: the receipt matches the mined event", async (entry) => {
    for (const product of [
      { productName: entry.name },
      { productId: entry.productId, productName: undefined },
    ]) {
      const answer = await buyer.buy({ ...product, coverageAmount: "1000000000" });
      expect(answer.status, answer.text).toBe(201);
      const { txHash, blockNumber, policyId, premiumPaid, purchaseId } = receiptOf(answer);
      expect(answer.json).toMatchObject({
        ok: true,
        buyer: buyer.account.address,
        productId: entry.productId,
        coverageAmount: "1000000000",
      });
      expect(answer.headers.get("location")).toBe(`/api/v1/purchases/${purchaseId}`);
      const [event] = await api.chain.client.getContractEvents({
        abi: coverRouterAbi,
        address: api.chain.deployment.contracts.coverRouter,
        eventName: "PolicyPurchased",
        fromBlock: BigInt(blockNumber),
        toBlock: BigInt(blockNumber),
        strict: true,
      });
      expect(event).toMatchObject({
        transactionHash: txHash,
        args: {
          productId: entry.productId,
          policyId: BigInt(policyId),
          buyer: buyer.account.address,
          premium: BigInt(premiumPaid),
        },
      });
    }
  });

  test("accepts ids and addresses in any case, the product's asset, and null for absent", async () => {
    const [entry] = catalogue;
    const answer = await buyer.buy({
      productName: undefined,
      productId: `0x${entry?.productId.slice(2).toUpperCase()}`,
      asset: assetBytes32("BTC"),
      buyer: `0x${buyer.account.address.slice(2).toUpperCase()}`,
      coverageAmount: "0000100000000",
      maxPremium: null,
      permit: null,
    });
    expect([answer.status, answer.json]).toEqual([
      201,
      expect.objectContaining({ buyer: getAddress(buyer.account.address), coverageAmount: "100000000" }),
    ]);
  });

  test("the policy can be read at once, and the purchase only by its wallet", async () => {
    const { policyId, productId, purchaseId, txHash } = receiptOf(await buyer.buy());
    const policy = await api.request(`/policies/${productId}/${policyId}`);
    expect(policy.json).toMatchObject({
      source: "chain",
      status: "Active",
      buyer: buyer.account.address,
      holder: buyer.account.address,
      productName: "FLASHBTC1H-001",
      productActive: true,
      coverageAmount: "100000000",
      payoutAmount: "80000000",
      premiumPaid: "292000",
      priceSnapshot: "0",
      bondId: null,
    });
    const own = await readPurchase(purchaseId, buyer.headers);
    expect(own.json).toMatchObject({ purchaseId, txHash, receipt: { policyId }, failure: null });
    expect(failure(await readPurchase(purchaseId, other.headers))).toEqual([404, "not_found"]);
    expect(failure(await readPurchase(randomUUID(), buyer.headers))).toEqual([404, "not_found"]);
    expect(failure(await readPurchase("7", buyer.headers))).toEqual([400, "validation_error"]);
    expect(failure(await readPurchase(purchaseId, {}))).toEqual([401, "unauthenticated"]);
  });
});

describe("an Idempotency-Key", () => {
  test("returns the same receipt again with 200 and buys once, also for simultaneous calls", async () => {
    const key = { "idempotency-key": randomUUID() };
    const before = await relayerNonce();
    const answers = await Promise.all(Array.from({ length: 8 }, () => buyer.buy({}, key)));
    expect(answers.map((a) => a.status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
    expect(new Set(answers.map((a) => receiptOf(a).txHash)).size).toBe(1);
    const again = await buyer.buy(
      { productId: productIdOf("FLASHBTC1H-001"), asset: assetBytes32("BTC") },
      key,
    );
    expect([again.status, again.json]).toEqual([200, answers[0]?.json]);
    expect(await relayerNonce()).toBe(before + 1);
  });

  test("with another body gets 409, and belongs to one wallet", async () => {
    const key = { "idempotency-key": `order ${randomUUID()}` };
    expect((await buyer.buy({}, key)).status).toBe(201);
    expect(failure(await buyer.buy({ coverageAmount: "100000001" }, key))).toEqual([
      409,
      "idempotency_conflict",
    ]);
    expect((await other.buy({}, key)).status).toBe(201);
  });

  test.each(["x".repeat(129), "schlüssel", "a\tb", ""])("%j is invalid and gets 400", async (key) => {
    const answer = await buyer.buy({}, { "idempotency-key": key });
    expect(failure(answer)).toEqual([400, "validation_error"]);
  });

  test("of 128 characters is valid", async () => {
    const key = { "idempotency-key": randomUUID().padEnd(128, "~") };
    expect((await buyer.buy({}, key)).status).toBe(201);
    expect((await buyer.buy({}, key)).status).toBe(200);
  });
});

describe("a purchase that would revert gets 502 with the decoded reason, and costs no gas", () => {
  test("an allowance that is too small; once it is raised, the same key buys", async () => {
    const poor = await createKeyHolder(api, anvilAccount(5));
    const rich = await createBuyer(api, anvilAccount(6));
    await act.approveUsdc(api.protocol, rich.account, api.chain.deployment.contracts.coverRouter, 291_999n);
    const before = await relayerNonce();
    const noMoney = await poor.buy();
    expect(failure(noMoney)).toEqual([502, "onchain_revert"]);
    const key = { "idempotency-key": randomUUID() };
    const answer = await rich.buy({}, key);
    expect(failure(answer)).toEqual([502, "onchain_revert"]);
    expect(messageOf(answer)).toContain(
      `ERC20InsufficientAllowance(${api.chain.deployment.contracts.coverRouter}, 291999, 292000)`,
    );
    expect(await relayerNonce()).toBe(before);
    await act.approveUsdc(api.protocol, rich.account, api.chain.deployment.contracts.coverRouter);
    expect((await rich.buy({}, key)).status).toBe(201);
  });

  test("an asset of another product", async () => {
    const answer = await buyer.buy({ asset: assetBytes32("ETH") });
    expect(failure(answer)).toEqual([502, "onchain_revert"]);
    expect(messageOf(answer)).toContain(`InvalidAsset(${assetBytes32("ETH")})`);
  });
});

test("an asset of another product is refused by the service, where the contracts sell cover under it", async () => {
  const eth48 = { productId: productIdOf("FLASHETH48-001"), asset: assetBytes32("BTC") };
  const ofProduct = { ...eth48, asset: assetBytes32("ETH") };
  const { policyId } = await act.purchase(api.protocol, buyer.account, ofProduct, 100_000_000n);
  const { shield } = await act.coverOf(api.protocol, eth48, policyId);
  await act.changeImmutable(api.protocol, shield, [ofProduct.asset, eth48.asset]);
  await act.purchase(api.protocol, buyer.account, eth48, 100_000_000n);
  const before = await relayerNonce();
  for (const product of [{ productName: "FLASHETH48-001" }, { productName: undefined }]) {
    const key = { "idempotency-key": randomUUID() };
    const answer = await buyer.buy({ ...eth48, ...product }, key);
    expect(failure(answer)).toEqual([502, "onchain_revert"]);
    expect(messageOf(answer)).toContain(`InvalidAsset(${eth48.asset})`);
  }
  expect(await relayerNonce()).toBe(before);
});

test("a buyer other than the key's wallet gets 403", async () => {
  const before = await relayerNonce();
  const answer = await buyer.buy({ buyer: other.account.address });
  expect(failure(answer)).toEqual([403, "buyer_not_authorized"]);
  expect(await relayerNonce()).toBe(before);
});

test("a caller that disconnects gets the purchase with the same Idempotency-Key", async () => {
  const key = { "idempotency-key": randomUUID() };
  const controller = new AbortController();
  const call = fetch(`${api.stack.apiUrl}/api/v1/policies`, {
    method: "POST",
    signal: controller.signal,
    headers: { ...buyer.headers, ...key, "content-type": "application/json" },
    body: JSON.stringify({
      productName: "FLASHETH1H-001",
      coverageAmount: "100000000",
      buyer: buyer.account.address,
    }),
  });
  setTimeout(() => controller.abort(), 20);
  const first = await call.then((answer) => answer.status).catch(() => "disconnected");
  const later = await buyer.buy({ productName: "FLASHETH1H-001" }, key);
  // Disconnected before or after the purchase was accepted: one purchase either way.
  expect([200, 201]).toContain(later.status);
  if (first === 201) expect(later.status).toBe(200);
  expect((await buyer.buy({ productName: "FLASHETH1H-001" }, key)).json).toEqual(later.json);
});

test("a purchase's traceparent is in the logs of api and writer, and a malformed one is ignored", async () => {
  const trace = newTrace();
  const malformed = `00-${randomBytes(16).toString("hex")}-1`;
  const { purchaseId } = receiptOf(await buyer.buy({}, { traceparent: trace }));
  receiptOf(await buyer.buy({}, { traceparent: malformed }));
  await expectLogged(api.stack, trace, purchaseId);
  for (const name of ["api", "writer"] as const) expect(api.stack.output(name)).not.toContain(malformed);
});
