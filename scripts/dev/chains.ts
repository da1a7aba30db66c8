/** A local stack's two chains: the main chain, fresh with a history or a fork, and the testnet. */
import { join } from "node:path";
import type { BlockRange } from "../../lib/chain/log-scan.ts";
import type { DevConfig } from "../../lib/config.ts";
import type { ForkArguments } from "../fork/arguments.ts";
import { openFork } from "../fork/client.ts";
import { keepForkFresh } from "../fork/fresh-prices.ts";
import { startNodeServer } from "../fork/node-server.ts";
import { startFork } from "../fork/start-fork.ts";
import { fundBuyers } from "../fork/wallets.ts";
import { type Anvil, type AnvilOptions, startAnvil } from "../local/anvil.ts";
import { deployOnAnvil, type LocalChain, writeDeployment } from "../local/chain.ts";
import type { Child } from "../local/processes.ts";
import { seedHistory, seedTestnet } from "../local/seed.ts";
import { serviceWallets } from "../local/service-wallets.ts";
import { deploymentFileOf, mainChainId } from "./deployments.ts";
import { keepPricesFresh } from "./price-refresher.ts";
import type { Stage } from "./started-parts.ts";

/** The main chain: a fresh one, or a fork. */
export type ChainSource =
  | { readonly kind: "fresh" }
  | { readonly kind: "fork"; readonly fork: ForkArguments };

export type ChainOptions = {
  readonly config: DevConfig;
  readonly deploymentFolder: string;
  readonly logFolder: string;
  /** Where forks keep what they have read. */
  readonly forkFolder: string;
  /** Starts a part of the stack. */
  readonly startPart: <T extends { stop: () => Promise<unknown> }>(
    stage: Stage,
    start: () => Promise<T>,
  ) => Promise<T>;
  readonly onSpawn: (child: Child) => void;
  readonly say: (text: string) => void;
};

export type MainChain = LocalChain & {
  /** The node for the indexer. */
  readonly indexerUrl: string;
  /** The blocks that the index reads at the start, where they may be many. */
  readonly history?: BlockRange;
  /** Runs while indexer and api start. */
  readonly writeHistory: () => Promise<void>;
  /** Keeps prices from becoming stale. */
  readonly keepFresh: () => Promise<{ stop: () => Promise<void> }>;
  /** A sentence for each thing that works on the reference contracts, and not here. */
  readonly faults: readonly string[];
};

const { relayer } = serviceWallets;

const testnetChainId = 84532;
/** Longer than the 730 days in which a bond matures. */
const historySeconds = 800n * 24n * 60n * 60n;

function startChain(
  { logFolder, startPart, onSpawn }: ChainOptions,
  chain: Pick<AnvilOptions, "chainId" | "port" | "timestamp" | "forkUrl" | "args" | "startTimeoutMs">,
): Promise<Anvil> {
  const logFile = join(logFolder, `chain-${chain.chainId}.log`);
  // A block every second, so that time passes, and one at once for each transaction, so that it is mined without a wait.
  return startPart("server", () =>
    startAnvil({ ...chain, logFile, blockTime: 1, mixedMining: true, onSpawn }),
  );
}

function deploy(options: ChainOptions, anvil: Anvil, name: string, retired: boolean): Promise<LocalChain> {
  const deploymentFile = deploymentFileOf(options.deploymentFolder, anvil.chainId);
  return deployOnAnvil(anvil, { name, relayers: [relayer.address], retired, deploymentFile });
}

async function startTestnet(options: ChainOptions): Promise<LocalChain> {
  const port = options.config.TESTNET_ANVIL_PORT;
  const anvil = await startChain(options, { chainId: testnetChainId, port });
  const chain = await deploy(options, anvil, "Local testnet", true);
  await seedTestnet({ rpcUrl: anvil.url, deployment: chain.deployment });
  return chain;
}

async function startFresh(options: ChainOptions): Promise<MainChain> {
  const now = BigInt(Math.floor(Date.now() / 1000));
  const anvil = await startChain(options, {
    chainId: mainChainId,
    port: options.config.ANVIL_PORT,
    timestamp: now - historySeconds,
  });
  const chain = await deploy(options, anvil, "Local chain", false);
  await fundBuyers(openFork(chain.deployment, chain.url), chain.deployment.contracts.usdc);
  return {
    ...chain,
    indexerUrl: anvil.url,
    async writeHistory() {
      await seedHistory({ rpcUrl: anvil.url, deployment: chain.deployment });
      options.say("history");
    },
    keepFresh: () => keepPricesFresh([chain]),
    faults: [],
  };
}

async function startForked(options: ChainOptions, fork: ForkArguments): Promise<MainChain> {
  const { forkFolder, startPart, say } = options;
  const port = options.config.ANVIL_PORT;
  const { anvil, deployment, ...others } = await startFork({
    ...{ fork, folder: forkFolder, anvilUrl: `http://127.0.0.1:${port}`, say },
    startAnvil: (chain) => startChain(options, { ...chain, port }),
    startServer: (server) => startPart("server", () => startNodeServer(server)),
  });
  // The file may describe a public chain, but the fork is a local one, and no explorer knows its transactions.
  const local = { ...deployment, local: true, explorerUrl: null };
  const file = deploymentFileOf(options.deploymentFolder, anvil.chainId);
  const { btcUsdFeed, ethUsdFeed } = deployment.contracts;
  return {
    ...writeDeployment(anvil, local, file),
    ...others,
    writeHistory: async () => {},
    keepFresh: () => keepForkFresh(anvil.url, [btcUsdFeed, ethUsdFeed]),
  };
}

/** Starts both chains at once, each with the protocol on it and a deployment file. */
export async function startChains(
  source: ChainSource,
  options: ChainOptions,
): Promise<{ main: MainChain; testnet: LocalChain }> {
  const [main, testnet] = await Promise.all([
    source.kind === "fork" ? startForked(options, source.fork) : startFresh(options),
    startTestnet(options),
  ]);
  return { main, testnet };
}
