/** Starts the main chain of `npm run fork`: an anvil that forks a node's chain, with the protocol's history, wallets and roles. */
import { join } from "node:path";
import { type Address, zeroAddress } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { createReadClient, type ReadClient } from "../../lib/chain/client.ts";
import { phaseAggregators } from "../../lib/chain/feed-phases.ts";
import { type BlockRange, WindowSize } from "../../lib/chain/log-scan.ts";
import { sellingAdapters } from "../../lib/chain/selling-adapters.ts";
import { type Deployment, requireDeployment } from "../../lib/deployments.ts";
import { blockBefore, registeredAdapters, shieldOf } from "../indexer/sources.ts";
import type { Anvil, AnvilOptions } from "../local/anvil.ts";
import { serviceWallets } from "../local/service-wallets.ts";
import type { ForkArguments } from "./arguments.ts";
import { openFork } from "./client.ts";
import { findForkPoint } from "./forked-node.ts";
import { type History, readHistory } from "./history.ts";
import { KeptAnswers } from "./kept-answers.ts";
import { keepLimits, knownLimits } from "./known-nodes.ts";
import type { startNodeServer } from "./node-server.ts";
import { progressThrough } from "./progress.ts";
import { takeRoles } from "./roles.ts";
import { Upstream } from "./upstream.ts";
import { prepareWallets } from "./wallets.ts";

/** The forked node may need this long for one of anvil's requests, at its rate. */
const UPSTREAM_TIMEOUT_MS = 600_000;

export type StartForkOptions = {
  readonly fork: ForkArguments;
  readonly folder: string;
  readonly anvilUrl: string;
  readonly startAnvil: (options: Pick<AnvilOptions, "chainId" | "args" | "forkUrl">) => Promise<Anvil>;
  readonly startServer: typeof startNodeServer;
  readonly say: (text: string) => void;
};

export type StartedFork = {
  readonly anvil: Anvil;
  readonly deployment: Deployment;
  /** The node for the indexer. */
  readonly indexerUrl: string;
  /** The blocks that the index reads at the start. */
  readonly history: BlockRange;
  /** A sentence for each thing that works on the reference contracts, and not here. */
  readonly faults: readonly string[];
};

const listeners = (addresses: readonly (Address | null | undefined)[]): Address[] => [
  ...new Set(addresses.flatMap((address) => (address && address !== zeroAddress ? [address] : []))),
];

/** The contracts whose logs are indexed. */
async function indexedContracts(client: ReadClient, { contracts }: Deployment): Promise<Address[]> {
  const { btcUsdFeed, ethUsdFeed, sequencerFeed, bondVault } = contracts;
  const feeds = [btcUsdFeed, ethUsdFeed, sequencerFeed].filter((feed) => feed !== zeroAddress);
  const vault = { address: bondVault, abi: bondVaultAbi, functionName: "priceOracle" } as const;
  const [phases, selling, priceOracle] = await Promise.all([
    Promise.all(feeds.map((feed) => phaseAggregators(client, feed))),
    sellingAdapters(client, contracts),
    client.readContract(vault),
  ]);
  const aggregators = phases.flat().map(({ aggregator }) => aggregator);
  const adapters = selling.map(({ adapter }) => adapter);
  const shields = await Promise.all(adapters.map((adapter) => shieldOf(client, adapter)));
  return listeners([...Object.values(contracts), priceOracle, ...aggregators, ...adapters, ...shields]);
}

/** Starts the fork. The server and anvil are the caller's to stop. */
export async function startFork(options: StartForkOptions): Promise<StartedFork> {
  const { fork, folder, anvilUrl, say } = options;
  const deployment = requireDeployment(fork.deploymentFile);
  const limitsFile = join(folder, "nodes.json");
  const limits = knownLimits(limitsFile, fork.rpcUrl);
  const upstream = new Upstream(fork.rpcUrl, limits?.requestsPerSecond);
  const window = new WindowSize(limits && BigInt(limits.blocksOfLogs));
  const point = await findForkPoint(upstream, deployment, fork.block);
  say(`forks block ${point.number} of chain ${deployment.chainId}`);

  const kept = new KeptAnswers(join(folder, `state-${point.hash}.ndjson`), point.number);
  let history: History | undefined;
  const server = await options.startServer({ upstream, kept, history: () => history, anvilUrl });
  const reader = createReadClient(deployment, server.upstreamUrl, {
    ...{ timeout: UPSTREAM_TIMEOUT_MS, retryCount: 0, batch: false },
  });
  const start = BigInt(deployment.startBlock);
  const range = { from: await blockBefore(reader, start), to: point.number };
  const file = join(folder, `history-${deployment.chainId}-${deployment.contracts.coverRouter}.ndjson`);
  const tell = progressThrough(range, (text) => say(`history: ${text}, ${upstream.rate} requests a second`));
  const onProgress = (last: bigint) => {
    const blocksOfLogs = Number(window.blocks);
    keepLimits(limitsFile, fork.rpcUrl, { requestsPerSecond: upstream.rate, blocksOfLogs });
    tell(last);
  };
  const read = (addresses: readonly Address[]) =>
    readHistory({
      ...{ upstream, client: reader, chainId: deployment.chainId },
      ...{ addresses, range, window, file, onProgress },
    });
  const contracts = await indexedContracts(reader, deployment);
  history = await read(contracts);
  const former = await registeredAdapters(reader, deployment.contracts.policyManager, {
    from: start,
    to: range.to,
  });
  const adapters = former.map(({ adapter }) => adapter).filter((adapter) => !contracts.includes(adapter));
  if (adapters.length > 0) {
    const shields = await Promise.all(adapters.map((adapter) => shieldOf(reader, adapter)));
    history = await read(listeners([...contracts, ...adapters, ...shields]));
  }
  say("history is read");

  const anvil = await options.startAnvil({
    chainId: deployment.chainId,
    forkUrl: server.upstreamUrl,
    args: [
      ...["--fork-block-number", String(point.number), "--timeout", String(UPSTREAM_TIMEOUT_MS)],
      // The server behind that URL keeps to the node's rate.
      "--no-rate-limit",
    ],
  });
  const client = openFork(deployment, anvil.url);
  await prepareWallets(client, deployment.contracts.usdc);
  const faults = await takeRoles(
    client,
    createReadClient(deployment, anvil.url),
    deployment,
    serviceWallets.relayer.address,
  );
  return { anvil, deployment, indexerUrl: server.indexerUrl, history: range, faults };
}
