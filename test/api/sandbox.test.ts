/** Buying on the testnet without a key or a wallet. */
import { randomUUID } from "node:crypto";
import { getAddress } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { catalogue, productIdOf } from "../../lib/products.ts";
import { openProtocol, purchase } from "../../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { newBuyer, policiesOnChain, usdc } from "../support/ledger.ts";
import { expectLogged, newTrace } from "../support/trace.ts";
import { failure, messageOf } from "./support/api.ts";
import { boughtOf, nonceOf, startSandbox, type TestSandbox } from "./support/sandbox.ts";
import { sandboxBodies } from "./support/sandbox-bodies.ts";
import { sandboxLimits } from "./support/sandbox-limits.ts";

const wallet = serviceWallets.sandbox.address;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ env: { api: { SANDBOX_RATE_LIMIT: "1000" } } });
  await sandbox.until();
});

describe("GET /sandbox/info", () => {
  test("returns the default product, the limits, and the sandbox wallet with its funds", async () => {
    const { stack, request } = sandbox;
    const answer = await request("/sandbox/info");
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        ok: true,
        enabled: true,
        status: "ready",
        reason: null,
        chainId: 84532,
        sandboxWallet: getAddress(wallet),
        coverageCapUsdc: "100000000",
        asset: { symbol: "BTC", bytes32: catalogue[0]?.asset },
        defaultProductId: productIdOf("FLASHBTC1H-001"),
        defaultProductName: "FLASHBTC1H-001",
        rateLimit: { perIp: 1000, windowSeconds: 3600 },
        funds: {
          usdc: "100000000000",
          allowance: String(2n ** 256n - 1n),
          eth: expect.stringMatching(/^[1-9]\d+$/),
          checkedAt: expect.any(String),
        },
        docs: `${stack.apiUrl}/api-docs#tag/sandbox`,
      },
    ]);
  });
});

describe("the limit of calls", () => sandboxLimits(() => sandbox));

describe("POST /sandbox/try", () => {
  test.each(catalogue)("$name by name and by id: the policy is on the testnet", async (entry) => {
    const { testnet, stack } = sandbox;
    for (const product of [{ productName: entry.name }, { productId: entry.productId }]) {
      const answer = await sandbox.buy(product);
      const { policyId, premiumPaid, txHash, blockNumber } = boughtOf(answer);
      expect(answer.json).toMatchObject({
        ok: true,
        sandbox: true,
        chainId: 84532,
        productId: entry.productId,
        buyer: getAddress(wallet),
        coverageAmount: "100000000",
        blockExplorer: `${stack.apiUrl}/sandbox/transactions/${txHash}`,
      });
      const [event] = await testnet.client.getContractEvents({
        abi: coverRouterAbi,
        address: testnet.deployment.contracts.coverRouter,
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
          buyer: getAddress(wallet),
          coverage: 100_000_000n,
          premium: BigInt(premiumPaid),
        },
      });
    }
  });

  test("a traceparent is in the logs of api and writer, and stored with the purchase", async () => {
    const trace = newTrace();
    const { txHash } = boughtOf(await sandbox.buy({}, { traceparent: trace }));
    const rows = await sandbox.connection.sql<{ id: string; traceparent: string }[]>`
      select id, traceparent from service.purchase_progress join service.purchase_trace on purchase_id = id
      where tx_hash = ${txHash}`;
    expect(rows).toMatchObject([{ traceparent: trace }]);
    await expectLogged(sandbox.stack, trace, rows[0]?.id);
  });

  test("on a chain without an explorer, blockExplorer links to /sandbox/transactions with the policy", async () => {
    const { blockExplorer, txHash, policyId, premiumPaid, blockNumber } = boughtOf(await sandbox.buy());
    const answer = await sandbox.request(new URL(blockExplorer).pathname);
    expect([answer.status, answer.json]).toEqual([
      200,
      expect.objectContaining({
        chainId: 84532,
        txHash,
        status: "success",
        blockNumber,
        from: serviceWallets.relayer.address,
        to: sandbox.testnet.deployment.contracts.coverRouter,
        policies: [
          {
            productId: productIdOf("FLASHBTC1H-001"),
            productName: "FLASHBTC1H-001",
            policyId,
            buyer: getAddress(wallet),
            coverageAmount: "100000000",
            premiumPaid,
            payoutAmount: "80000000",
          },
        ],
      }),
    ]);
  });

  test("policyUrl leads to the testnet's policy, also where the main chain has another one with its ids", async () => {
    const { main, request } = sandbox;
    const { policyUrl, policyId, productId, premiumPaid, blockNumber } = boughtOf(await sandbox.buy());
    const other = await newBuyer(main);
    for (let last = 0n; last < BigInt(policyId); ) {
      const product = termsOf("FLASHBTC1H-001");
      last = (await purchase(openProtocol(main.deployment, main.url), other, product, usdc(100))).policyId;
    }
    const answer = await request(new URL(policyUrl).pathname);
    const { timestamp } = await sandbox.testnet.client.getBlock({ blockNumber: BigInt(blockNumber) });
    expect([answer.status, answer.json]).toEqual([
      200,
      expect.objectContaining({
        productId,
        policyId,
        productName: "FLASHBTC1H-001",
        buyer: getAddress(wallet),
        holder: getAddress(wallet),
        coverageAmount: "100000000",
        payoutAmount: "80000000",
        premiumPaid,
        createdAt: String(timestamp),
        expiresAt: String(timestamp + 3600n),
        status: "Active",
        productActive: true,
        source: "chain",
        asOfBlock: answer.headers.get("x-chain-block"),
      }),
    ]);
    expect((await request(`/policies/${productId}/${policyId}`)).json).toMatchObject({
      buyer: other.address,
    });
  });

  test("/sandbox/policies: unknown policies and products get 404, and wrong ids 400", async () => {
    const get = (ids: string) => sandbox.request(`/sandbox/policies/${ids}`);
    const productId = productIdOf("FLASHBTC1H-001");
    for (const ids of [`${productId}/0`, `${productId}/${2n ** 256n - 1n}`, `0x${"12".repeat(32)}/1`]) {
      expect(failure(await get(ids)), ids).toEqual([404, "policy_not_found"]);
    }
    for (const ids of [`${productId}/-1`, `${productId}/${2n ** 256n}`, "FLASHBTC2H-001/1"]) {
      expect(failure(await get(ids)), ids).toEqual([400, "validation_error"]);
    }
  });

  test("/sandbox/transactions shows contract creations and reverted transactions too", async () => {
    const { client, owner, deployment } = sandbox.testnet;
    const [creation] = (await client.getBlock({ blockNumber: BigInt(deployment.startBlock) })).transactions;
    const created = await sandbox.request(`/sandbox/transactions/${creation}`);
    expect(created.json).toMatchObject({ status: "success", from: owner.address, to: null, policies: [] });
    const reverting = await client.sendTransaction({
      account: owner,
      to: deployment.contracts.coverRouter,
      data: "0xdeadbeef",
      gas: 100_000n,
      chain: null,
    });
    await client.waitForTransactionReceipt({ hash: reverting });
    const reverted = await sandbox.request(`/sandbox/transactions/${reverting}`);
    expect(reverted.json).toMatchObject({ status: "reverted", policies: [] });
    const unknown = await sandbox.request(`/sandbox/transactions/0x${"12".repeat(32)}`);
    expect(failure(unknown)).toEqual([404, "not_found"]);
    expect(failure(await sandbox.request("/sandbox/transactions/7"))).toEqual([400, "validation_error"]);
  });

  test("30 simultaneous calls get 30 separate policies", async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => sandbox.buy({})));
    const policies = answers.map((answer) => boughtOf(answer).policyId);
    expect(new Set(policies).size).toBe(30);
    expect(new Set(answers.map((answer) => boughtOf(answer).txHash)).size).toBe(30);
    const onChain = (await policiesOnChain(sandbox.testnet, wallet)).map(({ args }) => String(args.policyId));
    expect(onChain).toEqual(expect.arrayContaining(policies));
  });

  test("ignores a valid coverageAmount, and accepts ids in any case", async () => {
    for (const coverageAmount of ["1", "100000000", "0001", String(2n ** 256n - 1n)]) {
      expect((await sandbox.buy({ coverageAmount })).json).toMatchObject({ coverageAmount: "100000000" });
    }
    const productId = `0x${productIdOf("FLASHETH24-001").slice(2).toUpperCase()}`;
    expect((await sandbox.buy({ productId })).json).toMatchObject({ productId: productId.toLowerCase() });
  });
});

describe("an Idempotency-Key", () => {
  test("returns the same policy again and buys once, also for simultaneous calls", async () => {
    const key = { "idempotency-key": randomUUID() };
    const before = await nonceOf(sandbox, serviceWallets.relayer.address);
    const answers = await Promise.all(Array.from({ length: 8 }, () => sandbox.buy({}, key)));
    const again = await sandbox.buy(undefined, key);
    expect(new Set([...answers, again].map((answer) => boughtOf(answer).txHash)).size).toBe(1);
    expect(again.headers.get("idempotency-key")).toBe(key["idempotency-key"]);
    expect(await nonceOf(sandbox, serviceWallets.relayer.address)).toBe(before + 1);
  });

  test("conflicts with another product, but not with another spelling of the same product", async () => {
    const key = { "idempotency-key": `order ${randomUUID()}` };
    const { txHash } = boughtOf(await sandbox.buy({ productName: "FLASHBTC24-001" }, key));
    const same = { productId: productIdOf("FLASHBTC24-001"), coverageAmount: "7" };
    expect(boughtOf(await sandbox.buy(same, key)).txHash).toBe(txHash);
    const other = await sandbox.buy({ productName: "FLASHBTC48-001" }, key);
    expect(failure(other)).toEqual([409, "idempotency_conflict"]);
  });

  test("is generated for a call without one, and returns the same policy", async () => {
    const first = await sandbox.buy();
    const key = first.headers.get("idempotency-key") ?? "";
    expect(boughtOf(await sandbox.buy({}, { "idempotency-key": key })).txHash).toBe(boughtOf(first).txHash);
  });

  test.each(["x".repeat(129), "schlüssel", "a\tb", ""])("%j is invalid and gets 400", async (key) => {
    expect(failure(await sandbox.buy({}, { "idempotency-key": key }))).toEqual([400, "validation_error"]);
  });
});

describe("a product that is not sold", () => {
  test.each([
    [{ productName: "FLASHBTC4H-001" }, 400, "unknown_product"],
    [{ productName: "" }, 400, "unknown_product"],
    [{ productName: "__proto__" }, 400, "unknown_product"],
    [{ productId: `0x${"00".repeat(32)}` }, 404, "invalid_product"],
    [{ productName: "FLASHBTC1H-001", productId: productIdOf("FLASHETH1H-001") }, 400, "validation_error"],
  ])("%j gets %i %s", async (body, status, code) => {
    expect(failure(await sandbox.buy(body))).toEqual([status, code]);
  });

  test("the error lists the known product names", async () => {
    expect(messageOf(await sandbox.buy({ productName: "RATE-SHOCK" }))).toContain("FLASHETH48-001");
  });
});

describe("a body", () => sandboxBodies(() => sandbox));
