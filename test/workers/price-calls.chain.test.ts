/** The L1 fee of a call, from the gas oracle of a real node, with a count of its requests. */
import { encodeFunctionData, parseAbi, size } from "viem";
import { beforeAll, expect, test } from "vitest";
import { lower } from "../../lib/lower.ts";
import { openChain } from "../../workers/relayer/chain.ts";
import { createCallPricer } from "../../workers/relayer/fees.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { deployGasOracle } from "../support/gas-oracle.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

let chain: TestChain;
let rpc: RpcProxy;

beforeAll(async () => {
  chain = await startChain();
  rpc = await startRpcProxy(chain.url);
});

const callTo = (data: `0x${string}`) =>
  ({ to: lower(chain.relayer.address), data, value: 0n, gasLimit: 21_000n }) as const;
const newPricer = () => createCallPricer(openChain(chain.deployment, rpc.url));

test("on a chain without a gas oracle the L1 fee is zero", async () => {
  expect(await newPricer()(callTo("0x1234"))).toEqual({ ...callTo("0x1234"), l1Fee: 0n });
});

test("the L1 fee is twice what the gas oracle states, read once for all calls of a size", async () => {
  await deployGasOracle(chain, 1000n);
  const price = newPricer();
  const before = rpc.counts.get("eth_call") ?? 0;
  const calls = ["0x1234", "0x5678", `0x${"ab".repeat(500)}`] as const;
  const [small, same, large] = await Promise.all(calls.map((data) => price(callTo(data))));
  expect((rpc.counts.get("eth_call") ?? 0) - before).toBe(2);
  const asked = encodeFunctionData({
    abi: parseAbi(["function getL1Fee(bytes data)"]),
    args: [`0x${"ab".repeat(500)}`],
  });
  expect(large?.l1Fee).toBeGreaterThan(2000n * BigInt(size(asked)));
  expect(small?.l1Fee).toBe(same?.l1Fee);
  expect(small?.l1Fee).toBeLessThan(large?.l1Fee ?? 0n);
});
