/** A chain with the protocol on it, for one test file. */
import { join } from "node:path";
import {
  type Chain,
  createTestClient,
  type Hex,
  type LocalAccount,
  publicActions,
  walletActions,
} from "viem";
import { inject } from "vitest";
import { anvilAccount, chainOf } from "../../lib/chain/client.ts";
import { type AnvilOptions, privateKeyOf, startAnvil } from "../../scripts/local/anvil.ts";
import { deployOnAnvil, type LocalChain } from "../../scripts/local/chain.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { openProtocol, refreshFeeds } from "../../scripts/local/protocol/actions/index.ts";
import { toNode } from "../../scripts/local/to-node.ts";
import { atEnd, showOnFailure } from "./cleanup.ts";
import { forgetPid, recordPid } from "./run-folder.ts";

/**
 * A client that reads, sends from any of anvil's accounts, moves time and mines. It does not look for replacements: while
 * viem does, it misses a new block, and where only transactions make blocks no other comes, so the wait would never end. With
 * `batch`, calls of one tick share a request.
 */
export const testClient = (known: Chain, url: string, options: { batch?: boolean } = {}) => {
  const chain: Chain = { ...known, supportsTransactionReplacementDetection: false };
  return createTestClient({
    mode: "anvil",
    chain,
    transport: toNode(url, options),
    pollingInterval: 50,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
};

export type TestClient = ReturnType<typeof testClient>;

export type TestChain = LocalChain & {
  readonly client: TestClient;
  /** Owns every contract: anvil's account 0. */
  readonly owner: LocalAccount;
  /** Anvil's account 1: on the router's allowlist unless the options name others. */
  readonly relayer: LocalAccount;
  readonly relayerKey: Hex;
  /** The process id of anvil, for tests that stop (SIGSTOP) or kill the chain. */
  readonly pid: number;
  /** Stops the chain; it also stops when the test file ends. */
  readonly stop: () => Promise<void>;
};

export type TestChainOptions = Partial<
  Pick<
    AnvilOptions,
    "chainId" | "blockTime" | "mixedMining" | "timestamp" | "gasLimit" | "keptStates" | "args"
  >
> & {
  /** The wallets on the router's allowlist; anvil's account 1 when left out. */
  readonly relayers?: readonly LocalAccount[];
  /** See `deployProtocol`. */
  readonly retired?: boolean;
  /** See `deployProtocol`. */
  readonly maximumCoverage?: bigint;
};

/** Starts a chain that mines each transaction at once unless the options differ, and deploys the protocol on it. */
export async function startChain(options: TestChainOptions = {}): Promise<TestChain> {
  const [owner, relayer] = [anvilAccount(0), anvilAccount(1)];
  const { relayers = [relayer], retired = true, maximumCoverage, chainId = 8453, ...anvilOptions } = options;
  const runFolder = inject("runFolder");
  const port = await freePort();
  const logFile = join(runFolder, `chain-${port}.log`);
  const anvil = await startAnvil({ ...anvilOptions, chainId, port, logFile });
  recordPid(runFolder, anvil.pid);
  showOnFailure(`chain ${chainId}`, logFile);
  const stop = async () => {
    await anvil.stop();
    forgetPid(runFolder, anvil.pid);
  };
  atEnd(stop);

  const chain = await deployOnAnvil(anvil, {
    name: "Test chain",
    relayers: relayers.map(({ address }) => address),
    retired,
    ...(maximumCoverage === undefined ? {} : { maximumCoverage }),
    deploymentFile: join(runFolder, `deployment-${port}.json`),
  });
  return {
    ...chain,
    client: testClient(chainOf(chain.deployment, anvil.url), anvil.url),
    owner,
    relayer,
    relayerKey: privateKeyOf(relayer),
    pid: anvil.pid,
    stop,
  };
}

/** Mines a block for each transaction and no others, so that a reorganisation can still remove the newest ones. */
export const mineOnlyTransactions = ({ client }: Pick<TestChain, "client">) => client.setAutomine(true);

/** Mines a block every second, whatever the chain did before. */
export const mineEverySecond = ({ client }: Pick<TestChain, "client">) =>
  client.setIntervalMining({ interval: 1 });

/** Mines nothing, also on a chain with mixed mining: there `setAutomine(false)` changes nothing. */
export const mineNothing = ({ client }: Pick<TestChain, "client">) =>
  client.setIntervalMining({ interval: 0 });

/** A chain for sandbox and faucet, with chain id 84532 and price feeds that stay fresh for an hour. */
export async function startTestnet(options: TestChainOptions = {}): Promise<TestChain> {
  const testnet = await startChain({ chainId: 84532, ...options });
  await refreshFeeds(openProtocol(testnet.deployment, testnet.url), testnet.owner);
  return testnet;
}
