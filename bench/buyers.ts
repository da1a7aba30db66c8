/** Buyers of the purchases benchmarks: funded wallets with API keys, and their calls over HTTP. Each call is a new purchase. */
import { setTimeout as sleep } from "node:timers/promises";
import { Pool, request } from "undici";
import { encodeFunctionData, type LocalAccount, maxUint256 } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { mockUsdcAbi } from "../abis/MockUSDC.ts";
import { MINIMUM_COVERAGE } from "../lib/products.ts";
import type { ServiceStack } from "../scripts/local/service-stack.ts";
import { type Node, sendAndMine, signCalls } from "./raw-transactions.ts";
import { atEnd, type BenchStack } from "./stack.ts";

export const PRODUCT = "FLASHBTC1H-001";
const BUYERS = 20;
const DOLLARS = 1_000_000n * 1_000_000n;
const CALL_GAS = 100_000n;
/** Limits that are never reached, although the code that counts runs. */
const NO_LIMIT = "1000000";
export const unlimited = {
  api: { PUBLIC_RATE_LIMIT: NO_LIMIT, FREE_KEY_RATE_LIMIT: NO_LIMIT, PAID_KEY_RATE_LIMIT: NO_LIMIT },
  writer: { GAS_BUDGET_ETH: NO_LIMIT, GAS_BUDGET_PER_WALLET_ETH: NO_LIMIT },
};

/** Creates wallets with USDC that have approved the router. */
export async function createBuyers({ chain, owner }: BenchStack, node: Node): Promise<LocalAccount[]> {
  const { chainId, contracts } = chain.deployment;
  const buyers = Array.from({ length: BUYERS }, () => privateKeyToAccount(generatePrivateKey()));
  const callOf = (functionName: "mint" | "approve", to: `0x${string}`, amount: bigint) => ({
    to: contracts.usdc,
    gas: CALL_GAS,
    data: encodeFunctionData({ abi: mockUsdcAbi, functionName, args: [to, amount] }),
  });
  const mints = buyers.map(({ address }) => callOf("mint", address, DOLLARS));
  await sendAndMine(node, [owner.address], await signCalls(node, owner, chainId, mints));
  for (const { address } of buyers) await node.ask("anvil_setBalance", [address, "0xde0b6b3a7640000"]);
  const approve = callOf("approve", contracts.coverRouter, maxUint256);
  const approvals = await Promise.all(buyers.map((buyer) => signCalls(node, buyer, chainId, [approve])));
  await sendAndMine(
    node,
    buyers.map(({ address }) => address),
    approvals.flat(),
  );
  return buyers;
}

export type Answer = { readonly status: number; readonly ms: number };
/** Makes the n-th purchase. Without `wait` the api answers before it is mined. @throws with an answer that is no 2xx */
export type Buy = (n: number, wait: boolean) => Promise<Answer>;

const created = z.object({ apiKey: z.string() });
const json = { "content-type": "application/json" };

/** Creates a key for each buyer, and opens connections for all of them. */
export async function openBuyers(
  { apiUrl, settings }: ServiceStack,
  buyers: readonly LocalAccount[],
  connections: number,
): Promise<Buy> {
  const keys: string[] = [];
  for (const { address } of buyers) {
    const { statusCode, body } = await request(`${apiUrl}/api/v1/keys/generate`, {
      method: "POST",
      headers: { ...json, "x-admin-token": settings.adminToken },
      body: JSON.stringify({ wallet: address, label: "bench" }),
    });
    if (statusCode !== 201) throw new Error(`no key for ${address}: ${statusCode} ${await body.text()}`);
    keys.push(created.parse(await body.json()).apiKey);
  }
  const pool = new Pool(apiUrl, { connections, pipelining: 1, headersTimeout: 60_000 });
  await atEnd(() => pool.destroy());
  const run = generatePrivateKey();
  return async (n, wait) => {
    const began = performance.now();
    const { statusCode: status, body } = await pool.request({
      method: "POST",
      path: "/api/v1/policies",
      headers: {
        ...json,
        "x-api-key": keys[n % keys.length] ?? "",
        "idempotency-key": `${run.slice(2, 10)}-${n}`,
        ...(wait ? {} : { prefer: "respond-async" }),
      },
      body: JSON.stringify({
        productName: PRODUCT,
        coverageAmount: String(MINIMUM_COVERAGE),
        buyer: buyers[n % buyers.length]?.address,
      }),
    });
    const text = await body.text();
    if (status !== 201 && status !== 202) throw new Error(`purchase ${n}: ${status} ${text}`);
    return { status, ms: performance.now() - began };
  };
}

/** Makes `count` purchases without waiting for blocks: each connection sends the next one when it has its answer. */
export async function buyAtFullLoad(
  buy: Buy,
  first: number,
  count: number,
  connections: number,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = first;
  const client = async () => {
    while (next < first + count) {
      next += 1;
      answers.push(await buy(next - 1, false));
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  return answers;
}

/** Makes `count` purchases at a steady rate; every second one waits until it is mined. */
export async function buyAtRate(
  buy: Buy,
  first: number,
  count: number,
  perSecond: number,
): Promise<Answer[]> {
  const began = performance.now();
  const answers: Promise<Answer>[] = [];
  for (let n = 0; n < count; n += 1) {
    const due = began + (n * 1000) / perSecond - performance.now();
    if (due > 0) await sleep(due);
    answers.push(buy(first + n, n % 2 === 0));
  }
  return Promise.all(answers);
}
