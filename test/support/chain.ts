/** A chain of one's own with the protocol on it, for one test file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Chain,
  createTestClient,
  type Hex,
  http,
  type LocalAccount,
  publicActions,
  walletActions,
} from "viem";
import { inject } from "vitest";
import { anvilAccount, chainOf } from "../../lib/chain/client.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { type AnvilOptions, privateKeyOf, startAnvil } from "../../scripts/local/anvil.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { openProtocol, refreshFeeds } from "../../scripts/local/protocol/actions/index.ts";
import { deployProtocol } from "../../scripts/local/protocol/deploy.ts";
import { atEnd, showOnFailure } from "./cleanup.ts";
import { forgetPid, notePid } from "./run-folder.ts";

/** Everything that a test does on a chain: reads, sends from any of anvil's accounts, moves time, mines. */
export const testClient = (chain: Chain, url: string) =>
  createTestClient({ mode: "anvil", chain, transport: http(url), pollingInterval: 50, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);

export type TestClient = ReturnType<typeof testClient>;

export type TestChain = {
  readonly url: string;
  readonly wsUrl: string;
  readonly client: TestClient;
  readonly deployment: Deployment;
  readonly deploymentFile: string;
  /** Owns every contract: anvil's account 0. */
  readonly owner: LocalAccount;
  /** Anvil's account 1: on the router's allowlist unless the test chose others. */
  readonly relayer: LocalAccount;
  readonly relayerKey: Hex;
  /** The process id of anvil, for tests that stop (SIGSTOP) or kill the chain. */
  readonly pid: number;
  /** Stops the chain; done by itself when the test file ends. */
  readonly stop: () => Promise<void>;
};

export type TestChainOptions = Partial<
  Pick<AnvilOptions, "chainId" | "blockTime" | "mixedMining" | "timestamp" | "gasLimit" | "args">
> & {
  /** The wallets of the router's allowlist, instead of anvil's account 1. */
  readonly relayers?: readonly LocalAccount[];
  /** See `deployProtocol`. */
  readonly retired?: boolean;
};

/** Starts a chain that mines each transaction at once, unless told otherwise, and puts the protocol on it. */
export async function startChain(options: TestChainOptions = {}): Promise<TestChain> {
  const [owner, relayer] = [anvilAccount(0), anvilAccount(1)];
  const { relayers = [relayer], retired = true, chainId = 8453, ...anvilOptions } = options;
  const runFolder = inject("runFolder");
  const port = await freePort();
  const logFile = join(runFolder, `chain-${port}.log`);
  const anvil = await startAnvil({ ...anvilOptions, chainId, port, logFile });
  notePid(runFolder, anvil.pid);
  showOnFailure(`chain ${chainId}`, logFile);
  const stop = async () => {
    await anvil.stop();
    forgetPid(runFolder, anvil.pid);
  };
  atEnd(stop);

  const deployment = await deployProtocol({
    rpcUrl: anvil.url,
    chainId,
    name: "Test chain",
    owner,
    relayers: relayers.map(({ address }) => address),
    local: true,
    retired,
  });
  const deploymentFile = join(runFolder, `deployment-${port}.json`);
  writeFileSync(deploymentFile, JSON.stringify(deployment, null, 2));
  return {
    url: anvil.url,
    wsUrl: anvil.wsUrl,
    client: testClient(chainOf(deployment, anvil.url), anvil.url),
    deployment,
    deploymentFile,
    owner,
    relayer,
    relayerKey: privateKeyOf(relayer),
    pid: anvil.pid,
    stop,
  };
}

/** Blocks come with transactions alone: what is in the newest one stays within a reorganisation's reach. */
export const mineOnlyTransactions = ({ client }: Pick<TestChain, "client">) => client.setAutomine(true);

/** A block comes each second, whatever the chain did before. */
export const mineEverySecond = ({ client }: Pick<TestChain, "client">) =>
  client.setIntervalMining({ interval: 1 });

/**
 * A chain for sandbox and faucet: 84532, with feeds that were answered just now and stay fresh for an hour, and blocks at
 * once, as always, unless told otherwise.
 */
export async function startTestnet(options: TestChainOptions = {}): Promise<TestChain> {
  const testnet = await startChain({ chainId: 84532, ...options });
  await refreshFeeds(openProtocol(testnet.deployment, testnet.url), testnet.owner);
  return testnet;
}
