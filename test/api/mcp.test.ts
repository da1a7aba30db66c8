/**
 * The Model Context Protocol, spoken by the protocol's own client. What this proves: every tool does what the API does, and an agent
 * can go the whole way from quote to sale; and what it may not do.
 */
import { randomUUID } from "node:crypto";
import type { Hex, LocalAccount } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import {
  buyer,
  codeOf,
  countPolicies,
  investor,
  order,
  owner,
  PREMIUM,
  purchase,
  startForAgents,
  withKey,
} from "./support/agents.ts";
import type { TestApi } from "./support/api.ts";
import { overHttp, overNewHttp, overStdio } from "./support/mcp.ts";
import { simulatedInTime } from "./support/prepare.ts";
import { refusedAgents } from "./support/refused-agents.ts";

const btc1h = termsOf("FLASHBTC1H-001");

let api: TestApi;
beforeAll(async () => {
  api = await startForAgents();
});

const tools = [
  ...[
    "products",
    "quote",
    "policy",
    "my_policies",
    "claims",
    "listings",
    "stats",
    "buy_policy",
    "sandbox_try",
  ],
  ...[
    "prepare_redeem",
    "prepare_list",
    "prepare_buy",
    "prepare_withdraw",
    "prepare_claim",
    "report_transaction",
  ],
];

const prepared = z.object({
  issues: z.array(z.object({ code: z.string(), blocking: z.boolean() })),
  sendCalls: z.object({
    calls: z.array(
      z.object({
        to: z.templateLiteral(["0x", z.string()]),
        data: z.templateLiteral(["0x", z.string()]),
        value: z.string(),
      }),
    ),
  }),
  simulation: z.object({ status: z.string(), reason: z.string().optional() }),
});

/** Sends what a tool prepares, as the wallet's owner would. @returns the hash of the last transaction */
async function sendPrepared(account: LocalAccount, prepare: () => Promise<unknown>): Promise<Hex> {
  const { sendCalls, simulation } = await simulatedInTime(async () => prepared.parse(await prepare()));
  expect(simulation.status).toBe("ok");
  let hash: Hex | undefined;
  for (const { to, data, value } of sendCalls.calls)
    hash = (await act.send(api.protocol, account, to, data, BigInt(value))).transactionHash;
  if (!hash) throw new Error("there is nothing to send");
  return hash;
}

describe.each([
  { name: "over HTTP", connect: overHttp },
  { name: "over HTTP in the newest version", connect: overNewHttp },
  { name: "over stdio", connect: overStdio },
])("$name", ({ connect }) => {
  test("has all tools, resources and prompts", async () => {
    const { client } = await connect(api.stack.apiUrl);
    const listed = await client.listTools();
    expect(listed.tools.map(({ name }) => name).sort()).toEqual([...tools].sort());
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([
      "cover://products",
      "cover://stats",
    ]);
    expect((await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate)).toEqual([
      "cover://wallets/{address}/policies",
      "cover://wallets/{address}/bonds",
    ]);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual([
      "cover_a_position",
      "review_my_cover",
    ]);
    const prompt = await client.getPrompt({
      name: "cover_a_position",
      arguments: { position: "2 BTC", budget: "50 USDC" },
    });
    expect(JSON.stringify(prompt.messages)).toMatch(/2 BTC.*50 USDC/);
  });

  test("reads without a key, and says what a key is needed for", async () => {
    const { tool, client } = await connect(api.stack.apiUrl);
    expect((await tool("products")).data).toMatchObject({ products: expect.any(Array) });
    expect((await tool("quote", order)).data).toMatchObject({ premium: String(PREMIUM) });
    expect((await client.readResource({ uri: "cover://products" })).contents[0]).toMatchObject({
      mimeType: "application/json",
      text: expect.stringContaining("FLASHBTC1H-001"),
    });
    for (const [name, args] of [
      ["my_policies", {}],
      ["buy_policy", purchase()],
      ["buy_policy", purchase({ buyer: buyer.address })],
    ] as const) {
      expect(codeOf(await tool(name, args))).toBe("unauthenticated");
    }
  });

  test("the same requestId buys once, also at the same moment", async () => {
    const before = await countPolicies(api);
    await withKey(api, buyer.address, {}, async (headers) => {
      const agent = await connect(api.stack.apiUrl, headers);
      const wanted = purchase();
      const receipts = await Promise.all(Array.from({ length: 4 }, () => agent.done("buy_policy", wanted)));
      expect(new Set(receipts.map(({ txHash }) => txHash)).size).toBe(1);
      expect(await countPolicies(api)).toBe(before + 1);
      expect(codeOf(await agent.tool("buy_policy", { ...wanted, coverageAmount: "100000001" }))).toBe(
        "idempotency_conflict",
      );
    });
  });

  test("the sandbox buys on the testnet, and once for a requestId", async () => {
    const { done } = await connect(api.stack.apiUrl);
    const requestId = randomUUID();
    const first = await done("sandbox_try", { requestId, product: "FLASHETH24-001" });
    expect(first).toMatchObject({ ok: true, sandbox: true, chainId: 84532 });
    expect(await done("sandbox_try", { requestId, product: "FLASHETH24-001" })).toEqual(first);
  });
});

test.each([
  { name: "over HTTP", connect: overHttp },
  { name: "over stdio", connect: overStdio },
])("$name an agent goes the whole way: quote, purchase, fall, claim, listing, sale", async ({ connect }) => {
  const { protocol, stack } = api;
  await act.refreshFeeds(protocol, owner);
  await withKey(api, buyer.address, { scopes: ["read", "buy"] }, async (headers) => {
    const agent = await connect(stack.apiUrl, headers);
    const { premium } = await agent.done("quote", order);
    const wanted = purchase({ maxPremium: premium });
    const receipt = await agent.done("buy_policy", wanted);
    expect(receipt).toMatchObject({ ok: true, buyer: buyer.address, premiumPaid: premium });
    const policy = { product: order.product, policyId: String(receipt.policyId) };
    expect(await agent.done("policy", policy)).toMatchObject({ status: "Active", buyer: buyer.address });
    await expect
      .poll(async () => JSON.stringify(await agent.done("my_policies", { limit: 1 })))
      .toContain(String(receipt.txHash));

    const low = await act.triggerPrice(protocol, btc1h, BigInt(policy.policyId));
    const { price } = await act.latestRound(protocol, "BTC");
    const { start } = await act.coverOf(protocol, btc1h, BigInt(policy.policyId));
    for (let n = 0n; n < 3n; n += 1n) {
      await act.nextBlockAt(protocol, start + 300n + 70n * n);
      await act.pushPrice(protocol, owner, "BTC", low);
      await sendPrepared(buyer, () => agent.done("prepare_claim", { ...policy, from: buyer.address }));
    }
    await act.pushPrice(protocol, owner, "BTC", price);
    await expect
      .poll(async () => JSON.stringify(await agent.done("claims", { buyer: buyer.address, limit: 1 })))
      .toContain(`"policy_id":"${policy.policyId}"`);
    const { bondId } = await agent.done("policy", policy);

    const sale = { epochId: String(bondId), amount: "80", totalPriceUsdc: "60000000" };
    const listedBy = await sendPrepared(buyer, () =>
      agent.done("prepare_list", { ...sale, from: buyer.address }),
    );
    const report = { transaction: { action: "list", txHash: listedBy, wallet: buyer.address, ...sale } };
    const listing = await agent.done("report_transaction", report);
    expect(listing).toMatchObject({ txHash: listedBy, amount: "80" });
    const listingId = String(listing.listingId);
    await expect
      .poll(async () => JSON.stringify(await agent.done("listings", { seller: buyer.address })))
      .toContain(`"listingId":"${listingId}"`);

    await withKey(api, investor.address, {}, async (keyOfInvestor) => {
      const other = await connect(stack.apiUrl, keyOfInvestor);
      const txHash = await sendPrepared(investor, () =>
        other.done("prepare_buy", { from: investor.address, listingId }),
      );
      const sold = {
        ...{ action: "buy", txHash, listingId, amount: "80", totalPaidUsdc: "60900000" },
        wallet: investor.address,
      };
      expect(await other.done("report_transaction", { transaction: sold })).toMatchObject({ txHash });
      const early = { from: investor.address, epochId: sale.epochId, usdAmount: "80" };
      expect(prepared.parse(await other.done("prepare_redeem", early)).issues).toContainEqual(
        expect.objectContaining({ code: "not_mature", blocking: true }),
      );
      const mine = await other.client.readResource({ uri: `cover://wallets/${investor.address}/bonds` });
      expect(mine.contents[0]).toMatchObject({ mimeType: "application/json" });
    });
  });
});

test("a key may come as a bearer token, and two different keys are refused by the tools that take one", async () => {
  await withKey(api, buyer.address, {}, async (headers) => {
    const authorization = `Bearer ${headers["x-api-key"]}`;
    const bearer = await overHttp(api.stack.apiUrl, { authorization });
    expect(await bearer.done("my_policies", { limit: 1 })).toMatchObject({ policies: expect.any(Array) });
    const confused = await overHttp(api.stack.apiUrl, { authorization, "x-api-key": `lk_${"a".repeat(64)}` });
    expect(codeOf(await confused.tool("my_policies"))).toBe("unauthenticated");
  });
});

test("statistics have all topics", async () => {
  const { done } = await overHttp(api.stack.apiUrl);
  const topics = [
    "cover",
    "protocol",
    "products",
    "vault",
    "maturities",
    "queue",
    "market",
    "prices",
    "burns",
  ];
  for (const topic of topics) expect(Object.keys(await done("stats", { topic }))).not.toEqual([]);
});

describe("what an agent may not do", () => refusedAgents(() => api));
