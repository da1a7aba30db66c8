/** The stack's two chains: the main one, fresh with a history or a fork, and the testnet. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anvilAccount } from "../../lib/chain/client.ts";
import type { DevConfig } from "../../lib/config.ts";
import { type Deployment, requireDeployment } from "../../lib/deployments.ts";
import { type Anvil, startAnvil } from "../local/anvil.ts";
import type { Child } from "../local/processes.ts";
import { deployProtocol } from "../local/protocol/deploy.ts";
import { seedHistory, seedTestnet } from "../local/seed.ts";
import { authoriseRelayer } from "./fork.ts";
import type { ChainSource } from "./options.ts";
import { serviceWallets } from "./wallets.ts";

export type LocalChain = {
  readonly url: string;
  readonly wsUrl: string;
  readonly deployment: Deployment;
  /** What the processes read the addresses from. */
  readonly deploymentFile: string;
};

export type ChainHost = {
  readonly config: DevConfig;
  readonly deploymentFolder: string;
  readonly logFolder: string;
  /** Starts anvil as a part of the stack. */
  readonly own: (start: () => Promise<Anvil>) => Promise<Anvil>;
  readonly onSpawn: (child: Child) => void;
};

/** The main chain, and what remains to be done on it while the service's processes come up. */
export type MainChain = LocalChain & { readonly writeHistory: () => Promise<void> };

const owner = anvilAccount(0);
const { relayer } = serviceWallets;

const mainChainId = 8453;
const testnetChainId = 84532;
/** The seeded history reaches back beyond a bond's 730 days to maturity. */
const historySeconds = 800n * 24n * 60n * 60n;

function startChain(
  host: ChainHost,
  chain: { chainId: number; port: number; timestamp?: bigint; forkUrl?: string },
): Promise<Anvil> {
  const logFile = join(host.logFolder, `chain-${chain.chainId}.log`);
  // Blocks come every second, so that time passes, and at once for a transaction, so that nobody waits for it.
  const options = { ...chain, logFile, blockTime: 1, mixedMining: true, onSpawn: host.onSpawn };
  return host.own(() => startAnvil(options));
}

function writeDeployment(host: ChainHost, anvil: Anvil, deployment: Deployment): LocalChain {
  mkdirSync(host.deploymentFolder, { recursive: true });
  const deploymentFile = join(host.deploymentFolder, `${deployment.chainId}.json`);
  writeFileSync(deploymentFile, `${JSON.stringify(deployment, null, 2)}\n`);
  return { url: anvil.url, wsUrl: anvil.wsUrl, deployment, deploymentFile };
}

async function deployFresh(
  host: ChainHost,
  anvil: Anvil,
  name: string,
  retired: boolean,
): Promise<LocalChain> {
  const deployment = await deployProtocol({
    rpcUrl: anvil.url,
    chainId: anvil.chainId,
    name,
    owner,
    relayers: [relayer.address],
    local: true,
    retired,
  });
  return writeDeployment(host, anvil, deployment);
}

async function startTestnet(host: ChainHost): Promise<LocalChain> {
  const anvil = await startChain(host, { chainId: testnetChainId, port: host.config.TESTNET_ANVIL_PORT });
  const chain = await deployFresh(host, anvil, "Local testnet", true);
  await seedTestnet({ rpcUrl: anvil.url, deployment: chain.deployment });
  return chain;
}

async function startFresh(host: ChainHost): Promise<MainChain> {
  const now = BigInt(Math.floor(Date.now() / 1000));
  const anvil = await startChain(host, {
    chainId: mainChainId,
    port: host.config.ANVIL_PORT,
    timestamp: now - historySeconds,
  });
  const chain = await deployFresh(host, anvil, "Local chain", false);
  return { ...chain, writeHistory: () => seedHistory({ rpcUrl: anvil.url, deployment: chain.deployment }) };
}

async function startFork(
  host: ChainHost,
  { rpcUrl, deploymentFile }: ChainSource & { kind: "fork" },
): Promise<MainChain> {
  const forked = requireDeployment(deploymentFile);
  const { chainId } = forked;
  const anvil = await startChain(host, { chainId, port: host.config.ANVIL_PORT, forkUrl: rpcUrl });
  // The fork is ours whatever the file says of the chain that it was taken from.
  const chain = writeDeployment(host, anvil, { ...forked, local: true });
  await authoriseRelayer(anvil.url, chain.deployment, relayer.address);
  return { ...chain, writeHistory: async () => {} };
}

/** Starts both chains side by side, with the compiled protocol on them and a deployment file for each. */
export async function startChains(
  source: ChainSource,
  host: ChainHost,
): Promise<{ main: MainChain; testnet: LocalChain }> {
  const [main, testnet] = await Promise.all([
    source.kind === "fork" ? startFork(host, source) : startFresh(host),
    startTestnet(host),
  ]);
  return { main, testnet };
}
