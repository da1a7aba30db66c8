/**
 * `npm run demo` plays a buyer's journey against a running stack and prints each call and its answer: a key, a webhook,
 * mock USDC, an approval, a quote, a purchase, the policy, the index, the activity feed, the delivered event. `API_URL`
 * and `RPC_URL` name another stack than the one of `npm run dev`; the chain must be a local one, since the demo mints its
 * own money there, and the stack must run on this machine, whose loopback it calls.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createWalletClient, erc20Abi, type Hex, http, publicActions } from "viem";
import { z } from "zod";
import { mockUsdcAbi } from "../abis/MockUSDC.ts";
import { anvilAccount } from "../lib/chain/client.ts";
import { DEV_ADMIN_TOKEN } from "../lib/config.ts";
import { type Receiver, startReceiver } from "./demo/receiver.ts";

const apiUrl = process.env.API_URL || "http://127.0.0.1:8080";
const rpcUrl = process.env.RPC_URL || "http://127.0.0.1:8545";
const adminToken = process.env.ADMIN_TOKEN || DEV_ADMIN_TOKEN;

const product = "FLASHBTC24-001";
const coverageAmount = "1000000000";
/** How long the index may take to show the policy. */
const indexPatienceMs = 15_000;
/** How long the purchase may take to arrive at the webhook. */
const webhookPatienceMs = 15_000;

/** A list's first entries are enough to see its shape. */
const shortened = (_key: string, value: unknown) =>
  Array.isArray(value) && value.length > 2 ? [...value.slice(0, 2), `… and ${value.length - 2} more`] : value;

type Call = {
  method?: "GET" | "POST" | "DELETE";
  headers?: Record<string, string>;
  body?: unknown;
  quiet?: boolean;
};

/** Calls the API, prints the call and its answer, and checks that the answer is a success of the expected shape. */
async function call<T>(
  path: string,
  shape: z.ZodType<T>,
  { method = "GET", headers = {}, body, quiet }: Call = {},
) {
  const response = await fetch(`${apiUrl}${path}`, {
    method,
    headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  const answer: unknown = await response.json();
  if (!quiet || !response.ok) {
    console.log(`\n→ ${method} ${path}${body === undefined ? "" : ` ${JSON.stringify(body)}`}`);
    console.log(`← ${response.status} ${JSON.stringify(answer, shortened, 2)}`);
  }
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}`);
  return shape.parse(answer);
}

const address = z.templateLiteral(["0x", z.string().length(40)]);

async function main(receiver: Receiver): Promise<void> {
  const health = await call(
    "/health",
    z.object({
      chain: z.object({ chainId: z.int() }),
      contracts: z.object({ coverRouter: address, usdc: address }),
    }),
  );
  const { coverRouter, usdc } = health.contracts;
  const wallet = createWalletClient({ account: anvilAccount(9), transport: http(rpcUrl) }).extend(
    publicActions,
  );
  if ((await wallet.getChainId()) !== health.chain.chainId) {
    throw new Error(`${rpcUrl} is not the chain ${health.chain.chainId} of ${apiUrl}; set RPC_URL`);
  }
  const buyer = wallet.account.address;

  const { apiKey } = await call("/api/v1/keys/generate", z.object({ apiKey: z.string() }), {
    method: "POST",
    headers: { "x-admin-token": adminToken },
    body: { wallet: buyer, label: "demo" },
  });
  const auth = { "x-api-key": apiKey };

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

  const sent = async (what: string, hash: Hex) => {
    const receipt = await wallet.waitForTransactionReceipt({ hash, pollingInterval: 100 });
    if (receipt.status !== "success") throw new Error(`${what} reverted: ${hash}`);
    console.log(`\n⛓ ${what}: ${hash} in block ${receipt.blockNumber}`);
  };
  const { premium } = await call(
    `/products/${await productId()}/quote?coverageAmount=${coverageAmount}`,
    z.object({ premium: z.string().regex(/^\d+$/) }),
  );
  await sent(
    `the buyer mints ${premium} base units of mock USDC`,
    await wallet.writeContract({
      chain: null,
      address: usdc,
      abi: mockUsdcAbi,
      functionName: "mint",
      args: [buyer, BigInt(premium)],
    }),
  );
  await sent(
    "the buyer approves the cover router for as much",
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
      body: { productName: product, coverageAmount, buyer },
    },
  );
  await call(`/policies/${receipt.productId}/${receipt.policyId}`, z.object({ status: z.string() }));

  const listed = z.object({ policies: z.array(z.object({ productId: z.string(), policyId: z.string() })) });
  const path = `/api/v1/policies/by-buyer/${buyer}?limit=1`;
  const deadline = Date.now() + indexPatienceMs;
  const indexed = async () => {
    const { policies } = await call(path, listed, { quiet: true });
    return policies.some((p) => p.policyId === receipt.policyId && p.productId === receipt.productId);
  };
  while (!(await indexed())) {
    if (Date.now() > deadline) throw new Error("the index does not show the policy");
    await sleep(100);
  }
  await call(path, listed);

  const activity = await call(
    "/api/v1/stats/activity",
    z.object({ events: z.array(z.object({ tx_hash: z.string() })) }),
  );
  if (!activity.events.some((event) => event.tx_hash === receipt.txHash))
    throw new Error("the activity feed lacks the purchase");

  const event = await receiver.event(
    ({ type, txHash }) => type === "policy_purchased" && txHash === receipt.txHash,
    webhookPatienceMs,
  );
  console.log(`\n⇠ ${receiver.url} was sent, and has verified: ${JSON.stringify(event, null, 2)}`);
  await call(`${webhookPath}/deliveries?limit=1`, z.object({ count: z.literal(1) }), { headers: auth });
  await call(webhookPath, z.object({ ok: z.literal(true) }), { method: "DELETE", headers: auth });
  console.log(`\n✓ ${buyer} is covered by policy ${receipt.policyId} of ${product}.`);
}

async function productId(): Promise<string> {
  const { products } = await call(
    "/products",
    z.object({ products: z.array(z.object({ productId: z.string(), name: z.string().nullable() })) }),
  );
  const found = products.find((p) => p.name === product);
  if (!found) throw new Error(`the chain has no product ${product}`);
  return found.productId;
}

const receiver = await startReceiver();
try {
  await main(receiver);
} catch (error) {
  console.error(`\n✗ ${error instanceof Error ? error.message : error}`);
  console.error(`Is the stack running? \`npm run dev\` starts it; API_URL is ${apiUrl}, RPC_URL ${rpcUrl}.`);
  process.exitCode = 1;
} finally {
  receiver.close();
}
