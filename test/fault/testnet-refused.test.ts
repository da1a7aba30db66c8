/** Faucet and sandbox never run on a chain with real money. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import type { ServiceName } from "../../scripts/local/services.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { startStack } from "../support/stack.ts";

let chain: TestChain;
beforeAll(async () => {
  chain = await startChain();
});

/** The same chain, with a deployment file that names another chain id. */
function withChainId(chainId: number): TestChain {
  const deploymentFile = join(inject("runFolder"), `testnet-${chainId}.json`);
  writeFileSync(deploymentFile, JSON.stringify({ ...chain.deployment, chainId }));
  return { ...chain, deploymentFile };
}

/** Starts a process with this testnet and waits until it exits with code 1. Resolves to its output. */
async function outputAtExit(name: ServiceName, testnet: TestChain): Promise<string> {
  const stack = await startStack({ chain, testnet, services: [] });
  const child = await stack.start(name, { wait: false });
  const end = await waitFor({ what: `the ${name} to end`, probe: () => child.exit() });
  expect(end.code).toBe(1);
  return stack.output(name);
}

test.each<[ServiceName, number]>([
  ["api", 1],
  ["writer", 8453],
])("the %s does not start with chain %i as its testnet, and says why", async (name, chainId) => {
  const output = await outputAtExit(name, withChainId(chainId));
  expect(output).toMatch(
    new RegExp(`TESTNET_DEPLOYMENT_FILE .*chain ${chainId} is (no testnet|also the main chain)`),
  );
});
