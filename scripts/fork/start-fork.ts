/** Starts the main chain of `npm run fork`: an anvil that forks a node's chain, with the protocol's history, wallets and roles. */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Abi, type Address, encodeEventTopics, type Hex, pad, zeroAddress } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { priceAggregatorAbi } from "../../abis/PriceAggregator.ts";
import { priceOracleAbi } from "../../abis/PriceOracle.ts";
import { protocolTokenAbi } from "../../abis/ProtocolToken.ts";
import { createReadClient, type ReadClient } from "../../lib/chain/client.ts";
import { phaseAggregators } from "../../lib/chain/feed-phases.ts";
import { type BlockRange, WindowSize } from "../../lib/chain/log-scan.ts";
import { findRevert } from "../../lib/chain/reverts.ts";
import { sellingAdapters } from "../../lib/chain/selling-adapters.ts";
import { type Contracts, type Deployment, requireDeployment } from "../../lib/deployments.ts";
import { blockBefore, registeredAdapters, shieldOf } from "../indexer/sources.ts";
import type { Anvil, AnvilOptions } from "../local/anvil.ts";
import { serviceWallets } from "../local/service-wallets.ts";
import type { ForkArguments } from "./arguments.ts";
import { openFork, roleEvents } from "./client.ts";
import { type ForkPoint, findForkPoint } from "./forked-node.ts";
import { History, type HistoryFilter, readLogs } from "./history.ts";
import { KeptAnswers } from "./kept-answers.ts";
import { keepLimits, knownLimits } from "./known-nodes.ts";
import type { startNodeServer } from "./node-server.ts";
import { progressThrough } from "./progress.ts";
import { takeRoles } from "./roles.ts";
import { Upstream } from "./upstream.ts";
import { prepareWallets } from "./wallets.ts";

/** After so long the newest block is taken anew: a node may keep states for some minutes only. */
const LONG_READING_MS = 30_000;
/** Files with answers about other forked blocks that stay. */
const KEPT_STATES = 4;
/** The forked node may need this long for one of anvil's requests, at its rate. */
const UPSTREAM_TIMEOUT_MS = 600_000;

export type StartForkOptions = {
  readonly fork: ForkArguments;
  readonly folder: string;
  readonly anvilUrl: string;
  readonly startAnvil: (
    options: Pick<AnvilOptions, "chainId" | "args" | "forkUrl" | "startTimeoutMs">,
  ) => Promise<Anvil>;
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

const known = (addresses: readonly (Address | null | undefined)[]): Address[] => [
  ...new Set(addresses.flatMap((address) => (address && address !== zeroAddress ? [address] : []))),
];

const topicOf = (abi: Abi, eventName: string): Hex => {
  const [topic] = encodeEventTopics({ abi, eventName });
  if (typeof topic !== "string") throw new Error(`${eventName} has no topic`);
  return topic;
};
const transfer = topicOf(protocolTokenAbi, "Transfer");
const administrative = [
  ...["Upgraded", "Initialized", "OwnershipTransferred"].map((name) => topicOf(protocolTokenAbi, name)),
  ...["RoleGranted", "RoleRevoked"].map((name) => topicOf(roleEvents, name)),
];
const answerUpdated = topicOf(priceAggregatorAbi, "AnswerUpdated");
const topicOfAddress = (address: Address): Hex => pad(address, { size: 32 });

/**
 * The logs that the index reads, but for those of former adapters. Of aggregators and the token only some: other logs of theirs are
 * many. USDC's are not read at all.
 */
async function indexedLogs(client: ReadClient, { contracts }: Deployment): Promise<HistoryFilter[]> {
  const { usdc: _, protocolToken: token, ...others } = contracts;
  const { btcUsdFeed, ethUsdFeed, sequencerFeed, bondVault } = contracts;
  const feeds = [btcUsdFeed, ethUsdFeed, sequencerFeed].filter((feed) => feed !== zeroAddress);
  const [phases, selling, priceOracle] = await Promise.all([
    Promise.all(feeds.map((feed) => phaseAggregators(client, feed))),
    sellingAdapters(client, contracts),
    priceOracleOf(client, contracts),
  ]);
  const aggregators = phases.flat().map(({ aggregator }) => aggregator);
  const adapters = selling.map(({ adapter }) => adapter);
  const all = known([...Object.values(others), priceOracle, ...(await withShields(client, adapters))]);
  return [
    { addresses: all.filter((address) => !aggregators.includes(address)), topics: [] },
    { addresses: known([...aggregators, token]), topics: [[answerUpdated, ...administrative]] },
    { addresses: [token], topics: [transfer, null, [zeroAddress, bondVault].map(topicOfAddress)] },
    { addresses: [token], topics: [transfer, topicOfAddress(bondVault)] },
  ];
}

/** Adapters, and the shields behind them. */
async function withShields(client: ReadClient, adapters: readonly Address[]): Promise<Address[]> {
  const shields = await Promise.all(adapters.map((adapter) => shieldOf(client, adapter)));
  return known([...adapters, ...shields]);
}

const priceOracleOf = (client: ReadClient, { bondVault }: Contracts): Promise<Address> =>
  client.readContract({ address: bondVault, abi: bondVaultAbi, functionName: "priceOracle" });

/** Why sales are closed; undefined where the token has a price. */
async function priceFault(client: ReadClient, { contracts }: Deployment): Promise<string | undefined> {
  const address = await priceOracleOf(client, contracts);
  try {
    await client.readContract({ address, abi: priceOracleAbi, functionName: "getLuminaPrice" });
    return undefined;
  } catch (error) {
    const reason = findRevert(error)?.text;
    if (reason === undefined) throw error;
    return `The token's price oracle ${address} has no price (${reason}): no policy is sold.`;
  }
}

/** Starts the fork. The server and anvil are the caller's to stop. */
export async function startFork(options: StartForkOptions): Promise<StartedFork> {
  const { fork, folder, anvilUrl, say } = options;
  const deployment = requireDeployment(fork.deploymentFile);
  const limitsFile = join(folder, "nodes.json");
  const limits = knownLimits(limitsFile, fork.rpcUrl);
  const upstream = new Upstream(fork.rpcUrl, limits?.requestsPerSecond);
  const window = new WindowSize(limits && BigInt(limits.blocksOfLogs));
  let history: History | undefined;
  let [point, kept] = await openPoint(upstream, deployment, options);
  const server = await options.startServer({ upstream, kept: () => kept, history: () => history, anvilUrl });
  const reader = createReadClient(deployment, server.upstreamUrl, {
    ...{ timeout: UPSTREAM_TIMEOUT_MS, retryCount: 0, batch: false },
  });

  const start = BigInt(deployment.startBlock);
  const from = await blockBefore(reader, start);
  const nameOf = (what: string) =>
    join(folder, `${what}-${deployment.chainId}-${deployment.contracts.coverRouter}.ndjson`);
  /** The history up to the point. */
  async function read(): Promise<History> {
    const range = { from, to: point.number };
    const tell = progressThrough(range, (text) =>
      say(`history: ${text}, ${upstream.rate} requests a second`),
    );
    const onProgress = (last: bigint) => {
      const blocksOfLogs = Number(window.blocks);
      keepLimits(limitsFile, fork.rpcUrl, { requestsPerSecond: upstream.rate, blocksOfLogs });
      tell(last);
    };
    const common = { upstream, client: reader, chainId: deployment.chainId, range, window, onProgress };
    const filters = await indexedLogs(reader, deployment);
    const indexed = await readLogs({ ...common, filters, file: nameOf("history") });
    history = new History(range, [indexed]);
    const registered = { from: start, to: range.to };
    const adapters = await registeredAdapters(reader, deployment.contracts.policyManager, registered);
    const former = adapters
      .map(({ adapter }) => adapter)
      .filter((adapter) => !filters.some(({ addresses }) => addresses.includes(adapter)));
    if (former.length === 0) return history;
    const addresses = await withShields(reader, former);
    const theirs = await readLogs({
      ...common,
      filters: [{ addresses, topics: [] }],
      file: nameOf("former"),
    });
    return new History(range, [indexed, theirs]);
  }
  const startedAt = Date.now();
  history = await read();
  if (fork.block === undefined && Date.now() - startedAt > LONG_READING_MS) {
    // The node may have dropped the state of a block that is minutes old.
    [point, kept] = await openPoint(upstream, deployment, options);
    history = await read();
  }
  say(`history is read; forks block ${point.number} of chain ${deployment.chainId}`);

  const anvil = await options.startAnvil({
    chainId: deployment.chainId,
    forkUrl: server.upstreamUrl,
    startTimeoutMs: UPSTREAM_TIMEOUT_MS,
    args: [
      ...["--fork-block-number", String(point.number), "--timeout", String(UPSTREAM_TIMEOUT_MS)],
      // The server behind that URL keeps to the node's rate.
      "--no-rate-limit",
    ],
  });
  const client = openFork(deployment, anvil.url);
  const anvilReader = createReadClient(deployment, anvil.url);
  await prepareWallets(client, deployment.contracts.usdc);
  const faults = [
    await priceFault(anvilReader, deployment),
    ...(await takeRoles(client, anvilReader, deployment, serviceWallets.relayer.address)),
  ];
  return {
    ...{ anvil, deployment, indexerUrl: server.indexerUrl, history: history.range },
    faults: faults.filter((fault) => fault !== undefined),
  };
}

/** The block to fork, and what earlier starts have asked about it. Of other blocks only the newest few files stay. */
async function openPoint(
  upstream: Upstream,
  deployment: Deployment,
  { fork, folder }: Pick<StartForkOptions, "fork" | "folder">,
): Promise<[ForkPoint, KeptAnswers]> {
  const point = await findForkPoint(upstream, deployment, fork.block);
  const file = join(folder, `state-${point.hash}.ndjson`);
  const kept = new KeptAnswers(file, point.number);
  const others = readdirSync(folder).filter((name) => name.startsWith("state-") && !file.endsWith(name));
  const age = (name: string) => statSync(join(folder, name)).mtimeMs;
  for (const name of others.sort((one, other) => age(other) - age(one)).slice(KEPT_STATES))
    rmSync(join(folder, name));
  return [point, kept];
}
