/** The services of one chain start when that chain's node answers, also while the other chain's node is away. */
import { beforeAll, expect, test } from "vitest";
import { isRunning } from "../../scripts/local/pids.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, startTestnet, type TestChain } from "../support/chain.ts";
import { type Stack, startStack } from "../support/stack.ts";

let chain: TestChain;
let testnet: TestChain;
/** A URL without a server. */
let nowhere: string;

beforeAll(async () => {
  [chain, testnet] = await Promise.all([startChain(), startTestnet()]);
  nowhere = `http://127.0.0.1:${await freePort()}`;
});

const sandboxStatus = async (stack: Stack) => {
  const { status, json } = await stack.request("/sandbox/info");
  return status === 200 && typeof json === "object" && json !== null && "status" in json
    ? json.status
    : undefined;
};

test("while the main chain's node is away the sandbox buys and the faucet pays", async () => {
  const stack = await startStack({ chain, testnet, rpcUrl: nowhere, services: ["api"] });
  await stack.start("writer", { wait: false });
  await waitFor({
    what: "the sandbox to be ready",
    probe: async () => ((await sandboxStatus(stack)) === "ready" ? true : undefined),
  });
  expect((await stack.request("/sandbox/try", { method: "POST" })).status).toBe(200);
  const wallet = "0x00000000000000000000000000000000000fab01";
  const claim = await stack.request("/api/v1/faucet/claim", { method: "POST", body: { wallet } });
  expect(claim.status).toBe(200);
  expect(stack.output("writer")).not.toContain("the writer is ready");
  await stack.stop();
});

test("while the testnet's node is away the writer is ready for purchases, and logs that it waits for the testnet", async () => {
  const stack = await startStack({ chain, testnet, testnetRpcUrl: nowhere, services: ["writer"] });
  expect(stack.output("writer")).toContain("waiting for the testnet");
  await stack.stop();
});

test("a testnet node that serves another chain is reported before any service starts", async () => {
  const fault = "TESTNET_RPC_URL serves chain 8453, but TESTNET_DEPLOYMENT_FILE describes chain 84532";
  async function startWriter() {
    const stack = await startStack({ chain, testnet, testnetRpcUrl: chain.url, services: [] });
    const writer = await stack.start("writer", { wait: false });
    const output = () => stack.output("writer");
    await waitFor({
      what: "the writer to end, or to go on without the testnet",
      probe: () =>
        !isRunning(writer.pid) || output().includes("sandbox and faucet could not be started") || undefined,
    });
    await stack.stop();
    const { code } = await writer.exited;
    return { code, names: output().includes(fault), sends: output().includes("sending from a wallet") };
  }
  // A busy machine may need longer for the node's answer than the start waits: then the writer goes on, and is started again.
  await expect.poll(startWriter).toEqual({ code: 1, names: true, sends: false });
});
