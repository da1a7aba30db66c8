/** The dev stack's two chains: the main chain, fresh with a history or a fork, and the testnet. */
import { join } from "node:path";
import type { DevConfig } from "../../lib/config.ts";
import { requireDeployment } from "../../lib/deployments.ts";
import { type Anvil, startAnvil } from "../local/anvil.ts";
import { deployOnAnvil, type LocalChain, writeDeployment } from "../local/chain.ts";
import type { Child } from "../local/processes.ts";
import { seedHistory, seedTestnet } from "../local/seed.ts";
import { fundKeeper, serviceWallets } from "../local/service-wallets.ts";
import type { ChainSource } from "./arguments.ts";
import { deploymentFileOf, mainChainId } from "./deployments.ts";
import { authoriseRelayer } from "./fork-relayer.ts";

export type ChainOptions = {
  readonly config: DevConfig;
  readonly deploymentFolder: string;
  readonly logFolder: string;
  /** Starts anvil as a part of the stack. */
  readonly startPart: (start: () => Promise<Anvil>) => Promise<Anvil>;
  readonly onSpawn: (child: Child) => void;
};

/** `writeHistory` may run while indexer and api start. */
export type MainChain = LocalChain & { readonly writeHistory: () => Promise<void> };

const { relayer } = serviceWallets;

const testnetChainId = 84532;
/** Longer than the 730 days in which a bond matures. */
const historySeconds = 800n * 24n * 60n * 60n;

function startChain(
  { logFolder, startPart, onSpawn }: ChainOptions,
  chain: { chainId: number; port: number; timestamp?: bigint; forkUrl?: string },
): Promise<Anvil> {
  const logFile = join(logFolder, `chain-${chain.chainId}.log`);
  // A block every second, so that time passes, and one at once for each transaction, so that it is mined without a wait.
  return startPart(() => startAnvil({ ...chain, logFile, blockTime: 1, mixedMining: true, onSpawn }));
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
  return { ...chain, writeHistory: () => seedHistory({ rpcUrl: anvil.url, deployment: chain.deployment }) };
}

async function startFork(
  options: ChainOptions,
  { rpcUrl, deploymentFile }: ChainSource & { kind: "fork" },
): Promise<MainChain> {
  const forked = requireDeployment(deploymentFile);
  const port = options.config.ANVIL_PORT;
  const anvil = await startChain(options, { chainId: forked.chainId, port, forkUrl: rpcUrl });
  // The fork is a local chain, even if the file describes a public one.
  const chain = writeDeployment(
    anvil,
    { ...forked, local: true },
    deploymentFileOf(options.deploymentFolder, anvil.chainId),
  );
  await fundKeeper(anvil.url);
  await authoriseRelayer(anvil.url, chain.deployment, relayer.address);
  return { ...chain, writeHistory: async () => {} };
}

/** Starts both chains at once, each with the protocol on it and a deployment file. */
export async function startChains(
  source: ChainSource,
  options: ChainOptions,
): Promise<{ main: MainChain; testnet: LocalChain }> {
  const [main, testnet] = await Promise.all([
    source.kind === "fork" ? startFork(options, source) : startFresh(options),
    startTestnet(options),
  ]);
  return { main, testnet };
}
