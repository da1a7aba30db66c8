/** A router may lack the getter of the maximum coverage: then there is none. A node that does not answer says nothing of it. */
import { numberToHex, zeroAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import { readMaximumCoverage } from "../../api/chain/contracts/selling.ts";
import { createReadClient, type ReadClient } from "../../lib/chain/client.ts";
import { type Contracts, contractKeys, isComplete } from "../../lib/deployments.ts";
import { type RpcAnswer, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

let node: RpcProxy;
let client: ReadClient;
let contracts: Contracts;
beforeAll(async () => {
  // Every call is answered here, and none is forwarded.
  node = await startRpcProxy("http://127.0.0.1:1");
  client = createReadClient({ chainId: 8453, name: "Base" }, node.url, { retryCount: 0 });
  const named: Partial<Contracts> = Object.fromEntries(contractKeys.map((key) => [key, zeroAddress]));
  if (!isComplete(named)) throw new Error("a contract has no address");
  contracts = named;
});

function read(answer: RpcAnswer): Promise<bigint | undefined> {
  node.intercept(() => Promise.resolve(answer));
  return readMaximumCoverage(client, contracts);
}

test("the router's maximum is its getter's answer", async () => {
  expect(await read({ result: numberToHex(10_000_000_000n, { size: 32 }) })).toBe(10_000_000_000n);
});

test("without the getter there is no maximum: the call reverts, or a fallback answers nothing", async () => {
  expect(await read({ error: { code: 3, message: "execution reverted" } })).toBeUndefined();
  expect(await read({ result: "0x" })).toBeUndefined();
});

test("a node that cannot answer is no router without the getter", async () => {
  await expect(read({ error: { code: -32000, message: "header not found" } })).rejects.toThrow(
    "header not found",
  );
});
