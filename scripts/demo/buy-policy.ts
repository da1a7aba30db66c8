/** Buys a policy on the main chain, from a quote to finding the policy in the index and in a webhook delivery. */
import type { Hex } from "viem";
import { z } from "zod";
import { permitTypes } from "../../lib/chain/permit.ts";
import type { Wallet } from "../dev/running-stack.ts";
import type { Api } from "./api-client.ts";
import { needUsdc } from "./chain.ts";
import type { DemoStack } from "./demo-stack.ts";
import type { Auth } from "./keys.ts";

const hex = z.templateLiteral(["0x", z.string()]);
const product = "FLASHBTC24-001";
const coverageAmount = "1000000000";
/** The timeout for the purchase to arrive at the webhook. */
const webhookTimeoutMs = 60_000;

/** The key of a policy. */
export type BoughtPolicy = { readonly productId: Hex; readonly policyId: string };

/** What the coverage costs now, USDC with 6 decimals. */
export async function readPremium({ call }: Api): Promise<bigint> {
  const { products } = await call(
    "/products",
    z.object({ products: z.array(z.object({ productId: z.string(), name: z.string().nullable() })) }),
  );
  const productId = products.find(({ name }) => name === product)?.productId;
  if (productId === undefined) throw new Error(`the chain has no product ${product}`);
  const { premium } = await call(
    `/products/${productId}/quote?coverageAmount=${coverageAmount}`,
    z.object({ premium: z.string().regex(/^\d+$/) }),
  );
  return BigInt(premium);
}

const decimal = z.string().regex(/^\d+$/);
const purchaseStep = z.object({
  kind: z.literal("signature"),
  typedData: z.object({
    domain: z.object({ name: z.string(), version: z.string(), chainId: z.int(), verifyingContract: hex }),
    message: z.object({
      owner: hex,
      spender: hex,
      value: decimal,
      nonce: decimal,
      deadline: decimal,
    }),
  }),
  report: z.object({ body: z.looseObject({ permit: z.looseObject({}).optional() }) }),
});

/** Pays the premium with a permit: the buyer signs, and sends nothing. */
async function purchase({ api, contracts }: DemoStack, buyer: Wallet, auth: Auth, premium: bigint) {
  await needUsdc(buyer, contracts, premium);
  const { steps } = await api.call("/api/v1/policies/prepare", z.object({ steps: z.tuple([purchaseStep]) }), {
    method: "POST",
    body: { from: buyer.account.address, productName: product, coverageAmount, relayed: true },
  });
  const { typedData, report } = steps[0];
  const { value, nonce, deadline, ...parties } = typedData.message;
  const signature = await buyer.signTypedData({
    domain: typedData.domain,
    types: permitTypes,
    primaryType: "Permit",
    message: { ...parties, value: BigInt(value), nonce: BigInt(nonce), deadline: BigInt(deadline) },
  });
  console.log(
    `\n✎ ${buyer.account.address} signs a permit for ${value} base units of USDC, without a transaction`,
  );
  const { permit } = report.body;
  return api.call(
    "/api/v1/policies",
    z.object({ policyId: z.string(), productId: hex, txHash: z.string() }),
    {
      method: "POST",
      headers: { ...auth, "idempotency-key": crypto.randomUUID() },
      body: permit ? { ...report.body, permit: { ...permit, signature } } : report.body,
    },
  );
}

/** Buys with the buyer's key. @throws when a response is not as expected */
export async function buyPolicy(
  demo: DemoStack,
  buyer: Wallet,
  auth: Auth,
  premium: bigint,
): Promise<BoughtPolicy> {
  const { api, receiver } = demo;
  const { call } = api;
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

  const receipt = await purchase(demo, buyer, auth, premium);
  await call(`/policies/${receipt.productId}/${receipt.policyId}`, z.object({ status: z.string() }));

  const { productId, policyId } = receipt;
  const newest = z.object({ productId: z.literal(productId), policyId: z.literal(policyId) });
  await api.readOnce(
    `/api/v1/policies/by-buyer/${buyer.account.address}?limit=1`,
    z.object({ policies: z.tuple([newest]) }),
    "the index to have the policy",
  );

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
  console.log(`\n✓ ${buyer.account.address} is covered by policy ${receipt.policyId} of ${product}.`);
  return receipt;
}
