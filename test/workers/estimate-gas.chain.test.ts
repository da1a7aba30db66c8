/** The simulation of calls, against a real node, with a count of its requests. */
import { encodeFunctionData, hexToBytes } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import { findRevert } from "../../lib/chain/reverts.ts";
import { type Chain, openChain } from "../../workers/relayer/chain.ts";
import { purchaseCalldata } from "../../workers/relayer/purchase-calls.ts";
import { createGasEstimator } from "../../workers/relayer/simulate-one-by-one.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { newBuyer, purchaseRequest } from "../support/ledger.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

let chain: TestChain;
let rpc: RpcProxy;
let node: Chain;
let estimates = 0;

beforeAll(async () => {
  chain = await startChain();
  rpc = await startRpcProxy(chain.url);
  node = openChain(chain.deployment, rpc.url);
});

beforeEach(() => {
  estimates = rpc.counts.get("eth_estimateGas") ?? 0;
});

const estimated = () => (rpc.counts.get("eth_estimateGas") ?? 0) - estimates;

/** Zero bytes of calldata cost less gas: with buyers' addresses without them all purchases need the same gas. */
async function purchaseOf(options?: Parameters<typeof newBuyer>[1]) {
  let { address } = await newBuyer(chain, options);
  while (hexToBytes(address).includes(0)) ({ address } = await newBuyer(chain, options));
  const { coverRouter: to } = chain.deployment.contracts;
  return { from: chain.relayer.address, to, data: purchaseCalldata(purchaseRequest(address)) };
}

test("the first call is estimated, and later ones run once with the same gas", async () => {
  const simulate = createGasEstimator(node);
  const call = await purchaseOf();
  const gas = await simulate(call);
  expect(gas).toBe(await node.estimateGas(call));
  estimates += 1;
  const others = [await purchaseOf(), await purchaseOf(), await purchaseOf()];
  expect(await Promise.all(others.map(simulate))).toEqual([gas, gas, gas]);
  expect(estimated()).toBe(1);
});

test("a call that would revert rejects with its reason, also when an estimate is cached", async () => {
  const simulate = createGasEstimator(node);
  await simulate(await purchaseOf());
  const refused = await simulate(await purchaseOf({ approve: false })).catch(findRevert);
  expect(refused).toMatchObject({ name: "ERC20InsufficientAllowance" });
});

test("a call that needs more gas is estimated, and later ones run with that gas", async () => {
  const simulate = createGasEstimator(node);
  const { from } = await purchaseOf();
  const mint = encodeFunctionData({ abi: mockUsdcAbi, functionName: "mint", args: [from, 1n] });
  const cheap = await simulate({ from, to: chain.deployment.contracts.usdc, data: mint });
  const expensive = await simulate(await purchaseOf());
  expect(expensive).toBeGreaterThan(cheap);
  expect(await simulate({ from, to: chain.deployment.contracts.usdc, data: mint })).toBe(expensive);
  expect(estimated()).toBe(2);
});
