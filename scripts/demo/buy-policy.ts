/** Buys a policy on the main chain, from creating a key to finding the policy in the index and in a webhook delivery. */
import { setTimeout as sleep } from "node:timers/promises";
import { createWalletClient, erc20Abi, type Hex, http, publicActions } from "viem";
import { z } from "zod";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import { anvilAccount } from "../../lib/chain/client.ts";
import type { Api } from "./api-client.ts";
import type { Receiver } from "./receiver.ts";

const buyer = anvilAccount(9);
const product = "FLASHBTC24-001";
const coverageAmount = "1000000000";
/** The timeout for the policy to appear in the index. */
const indexTimeoutMs = 60_000;
/** The timeout for the purchase to arrive at the webhook. */
const webhookTimeoutMs = 60_000;

const address = z.templateLiteral(["0x", z.string().length(40)]);

export type DemoStack = {
  readonly api: Api;
  readonly apiUrl: string;
  readonly rpcUrl: string;
  readonly adminToken: string;
  readonly receiver: Receiver;
};

/** Buys with a key of its own, and revokes it: a wallet has at most three. @throws when a response is not as expected. */
export async function buyPolicy(stack: DemoStack): Promise<void> {
  const { call } = stack.api;
  const { keyId, apiKey } = await call(
    "/api/v1/keys/generate",
    z.object({ keyId: z.int(), apiKey: z.string() }),
    {
      method: "POST",
      headers: { "x-admin-token": stack.adminToken },
      body: { wallet: buyer.address, label: "demo" },
    },
  );
  const auth = { "x-api-key": apiKey };
  try {
    await buyWithKey(stack, auth);
  } finally {
    const revoked = z.object({ ok: z.literal(true) });
    await call(`/api/v1/agent/keys/${keyId}`, revoked, { method: "DELETE", headers: auth });
  }
}

async function buyWithKey(
  { api, apiUrl, rpcUrl, receiver }: DemoStack,
  auth: { readonly "x-api-key": string },
): Promise<void> {
  const { call } = api;
  const health = await call(
    "/health",
    z.object({
      chain: z.object({ chainId: z.int() }),
      contracts: z.object({ coverRouter: address, usdc: address }),
    }),
  );
  const { coverRouter, usdc } = health.contracts;
  const wallet = createWalletClient({ account: buyer, transport: http(rpcUrl) }).extend(publicActions);
  if ((await wallet.getChainId()) !== health.chain.chainId) {
    throw new Error(`${rpcUrl} is not chain ${health.chain.chainId} of ${apiUrl}; set RPC_URL`);
  }

  const webhook = await call("/api/v1/webhooks", z.object({ id: z.int(), secret: z.string() }), {
    method: "POST",
    headers: auth,
    body: { url: receiver.url, events: "*" },
  });
  receiver.trust(webhook.secret);
  const webhookPath = `/api/v1/webhooks/${webhook.id}`;
  await call(`${webhookPath}/test`, z.object({ delivered: z.literal(true) }), {
    method: "POST",
    headers: auth,
  });

  const mined = async (what: string, hash: Hex) => {
    const receipt = await wallet.waitForTransactionReceipt({ hash, pollingInterval: 100 });
    if (receipt.status !== "success") throw new Error(`${what} reverted: ${hash}`);
    console.log(`\n⛓ ${what}: ${hash} in block ${receipt.blockNumber}`);
  };
  const { premium } = await call(
    `/products/${await productId(api)}/quote?coverageAmount=${coverageAmount}`,
    z.object({ premium: z.string().regex(/^\d+$/) }),
  );
  await mined(
    `the buyer mints ${premium} base units of mock USDC`,
    await wallet.writeContract({
      chain: null,
      address: usdc,
      abi: mockUsdcAbi,
      functionName: "mint",
      args: [buyer.address, BigInt(premium)],
    }),
  );
  await mined(
    "the buyer approves the cover router for this amount",
    await wallet.writeContract({
      chain: null,
      address: usdc,
      abi: erc20Abi,
      functionName: "approve",
      args: [coverRouter, BigInt(premium)],
    }),
  );

  const receipt = await call(
    "/api/v1/policies",
    z.object({ policyId: z.string(), productId: z.string(), txHash: z.string() }),
    {
      method: "POST",
      headers: { ...auth, "idempotency-key": crypto.randomUUID() },
      body: { productName: product, coverageAmount, buyer: buyer.address },
    },
  );
  await call(`/policies/${receipt.productId}/${receipt.policyId}`, z.object({ status: z.string() }));

  const listed = z.object({ policies: z.array(z.object({ productId: z.string(), policyId: z.string() })) });
  const path = `/api/v1/policies/by-buyer/${buyer.address}?limit=1`;
  const deadline = Date.now() + indexTimeoutMs;
  const indexed = async () => {
    const { policies } = await call(path, listed, { quiet: true });
    return policies.some((p) => p.policyId === receipt.policyId && p.productId === receipt.productId);
  };
  while (!(await indexed())) {
    if (Date.now() > deadline) throw new Error("the policy does not appear in the index");
    await sleep(100);
  }
  await call(path, listed);

  const activity = await call(
    "/api/v1/stats/activity",
    z.object({ events: z.array(z.object({ tx_hash: z.string() })) }),
  );
  if (!activity.events.some((event) => event.tx_hash === receipt.txHash))
    throw new Error("the activity feed does not contain the purchase");

  const event = await receiver.event(
    ({ type, txHash }) => type === "policy_purchased" && txHash === receipt.txHash,
    webhookTimeoutMs,
  );
  console.log(`\n⇠ ${receiver.url} received and verified: ${JSON.stringify(event, null, 2)}`);
  await call(`${webhookPath}/deliveries?limit=1`, z.object({ count: z.literal(1) }), { headers: auth });
  await call(webhookPath, z.object({ ok: z.literal(true) }), { method: "DELETE", headers: auth });
  console.log(`\n✓ ${buyer.address} is covered by policy ${receipt.policyId} of ${product}.`);
}

async function productId({ call }: Api): Promise<string> {
  const { products } = await call(
    "/products",
    z.object({ products: z.array(z.object({ productId: z.string(), name: z.string().nullable() })) }),
  );
  const found = products.find((p) => p.name === product);
  if (!found) throw new Error(`the chain has no product ${product}`);
  return found.productId;
}
