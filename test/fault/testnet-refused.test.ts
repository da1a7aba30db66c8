/** Nothing is given away, and nothing bought for nobody, on a chain whose money is worth something. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import type { ServiceName } from "../../scripts/dev/services.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { startStack } from "../support/stack.ts";

let chain: TestChain;
beforeAll(async () => {
  chain = await startChain();
});

/** The same chain, by a deployment file that calls it another. */
function calling(chainId: number): TestChain {
  const deploymentFile = join(inject("runFolder"), `testnet-${chainId}.json`);
  writeFileSync(deploymentFile, JSON.stringify({ ...chain.deployment, chainId }));
  return { ...chain, deploymentFile };
}

/** What a process with this testnet says at its end. */
async function lastWords(name: ServiceName, testnet: TestChain): Promise<string> {
  const stack = await startStack({ chain, testnet, services: [] });
  const child = await stack.start(name, { wait: false });
  const end = await waitFor({ what: `the ${name} to end`, probe: () => child.exit(), timeoutMs: 60_000 });
  expect(end.code).toBe(1);
  return stack.output(name);
}

test.each<[ServiceName, number]>([
  ["api", 1],
  ["writer", 1],
  ["api", 8453],
  ["writer", 8453],
])("the %s does not start with a testnet of chain %i, and says why", async (name, chainId) => {
  const words = await lastWords(name, calling(chainId));
  expect(words).toMatch(
    new RegExp(`TESTNET_DEPLOYMENT_FILE .*chain ${chainId} is (no testnet|the main chain)`),
  );
});

test("the writer does not send to a node of the main chain that its file calls the testnet", async () => {
  const before = await chain.client.getBlockNumber();
  expect(await lastWords("writer", calling(84532))).toMatch(/TESTNET_RPC_URL serves chain 8453/);
  expect(await chain.client.getBlockNumber()).toBe(before);
});
