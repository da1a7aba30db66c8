/** Answers from the contracts name a block. What this proves: all of an answer is of that block, whatever happens while it is read. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { concat, isAddress, isAddressEqual, numberToHex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { type ChainReads, createChainReads } from "../../api/chain/chain-reads.ts";
import type { ApiEnv } from "../../api/http/env.ts";
import { addProductRoutes } from "../../api/products/handlers.ts";
import { anvilAccount, createReadClient } from "../../lib/chain/client.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import * as act from "../support/protocol-actions.ts";
import { type RpcAnswer, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

const USDC = 1_000_000n;
const terms = termsOf("FLASHBTC24-001");
const buyer = anvilAccount(2);

let chain: TestChain;
let protocol: act.Protocol;
let proxy: RpcProxy;
let reads: ChainReads;

beforeAll(async () => {
  chain = await startChain();
  protocol = act.openProtocol(chain.deployment, chain.url);
  await act.mintUsdc(protocol, chain.owner, buyer.address, 1_000_000n * USDC);
  await act.approveUsdc(protocol, buyer, chain.deployment.contracts.coverRouter);
  proxy = await startRpcProxy(chain.url);
  reads = createChainReads({
    client: createReadClient(chain.deployment, proxy.url),
    deployment: chain.deployment,
  });
});

test("the newest block has arrived when it was first seen, not when its clock says so", async () => {
  const seen = async (after: bigint) => {
    let head = await reads.recentHead();
    while (head.number <= after) head = await reads.recentHead();
    return head;
  };
  const first = await seen(0n);
  await chain.client.mine({ blocks: 1 });
  const next = await seen(first.number);
  expect(next.arrivedAt).toBeGreaterThan(first.arrivedAt);
  // Read anew once it is half a second old.
  await expect.poll(async () => performance.now() - next.arrivedAt > 600).toBe(true);
  expect(await reads.recentHead()).toEqual(next);
});

const buy = () => act.purchase(protocol, buyer, terms, 1000n * USDC);

/** Lets something happen on the chain between the first read of the newest block and all calls. */
function afterHead(happen: () => Promise<unknown>): void {
  let started = false;
  let start = (_work: Promise<unknown>) => {};
  const happened = new Promise<unknown>((resolve) => {
    start = resolve;
  });
  proxy.intercept(async ({ method }, forward) => {
    if (method === "eth_call") await happened;
    const answer = await forward();
    if (method === "eth_getBlockByNumber" && !started) {
      started = true;
      start(happen());
      await happened;
    }
    return answer;
  });
}

test("a policy is read at the block that the answer names", async () => {
  const { policyId, receipt } = await buy();
  afterHead(() => act.trigger(protocol, buyer, terms, policyId));
  const found = await reads.policy({ productId: terms.productId, policyId });
  expect(found?.asOf.number).toBe(receipt.blockNumber);
  expect(found?.policy.triggered).toBe(false);
  expect((await reads.policy({ productId: terms.productId, policyId }))?.policy.triggered).toBe(true);
});

test("a node that lacks the block that another has named is asked once more, at the newest block then", async () => {
  const { policyId } = await buy();
  const first = await chain.client.getBlockNumber();
  proxy.intercept(async (call, forward) => {
    const isBehind = call.method === "eth_call" && call.params[1] === numberToHex(first);
    return isBehind ? { error: { code: -32000, message: "header not found" } } : forward();
  });
  const refused = reads.policy({ productId: terms.productId, policyId });
  await expect(refused).rejects.toMatchObject({ code: "chain_not_found" });
  proxy.intercept(async (call, forward) => {
    const isBehind = call.method === "eth_call" && call.params[1] === numberToHex(first);
    if (isBehind && (await chain.client.getBlockNumber()) === first) await chain.client.mine({ blocks: 1 });
    return isBehind ? { error: { code: -32000, message: "header not found" } } : forward();
  });
  const found = await reads.policy({ productId: terms.productId, policyId });
  expect(found?.asOf.number).toBeGreaterThan(first);
});

test("a quote is computed at the block that it names", async () => {
  afterHead(buy);
  const app = new OpenAPIHono<ApiEnv>();
  addProductRoutes(app, { chain: reads });
  const answer = await app.request(`/products/${terms.productId}/quote?coverageAmount=${1000n * USDC}`);
  const quote = z.object({ asOfBlock: z.string(), availableCapacity: z.string() }).parse(await answer.json());
  const capacityAt = (blockNumber: bigint) =>
    chain.client.readContract({
      abi: bondVaultAbi,
      address: chain.deployment.contracts.bondVault,
      functionName: "availableCapacityUSD",
      blockNumber,
    });
  const block = BigInt(quote.asOfBlock);
  expect(quote.availableCapacity).toBe(String((await capacityAt(block)) * 1_000_000n));
  expect(await capacityAt(block + 1n)).not.toBe(await capacityAt(block));
});

const word = (value: number) => numberToHex(value, { size: 32 });
test.each<[what: string, answer: RpcAnswer, code: string]>([
  ["nothing", { result: "0x" }, "contract_mismatch"],
  ["too few words", { result: word(1) }, "contract_mismatch"],
  [
    "another type",
    { result: concat([word(1), word(2), word(3), word(4), word(5), word(6)]) },
    "contract_mismatch",
  ],
  ["a revert", { error: { code: 3, message: "execution reverted" } }, "contract_mismatch"],
  ["an error of the node", { error: { code: -32603, message: "internal error" } }, "chain_not_found"],
])("a view of the router that answers %s", async (_what, answer, code) => {
  const { coverRouter } = chain.deployment.contracts;
  const toRouter = z.object({
    to: z.string().refine((to) => isAddress(to) && isAddressEqual(to, coverRouter)),
  });
  proxy.intercept(async ({ method, params }, forward) =>
    method === "eth_call" && toRouter.safeParse(params[0]).success ? answer : forward(),
  );
  await expect(reads.product(terms.productId)).rejects.toMatchObject({ code });
  proxy.intercept();
});
