import type { ClientBase } from "pg";
import { createConfig } from "ponder";
import { parseAbi, zeroAddress } from "viem";
import { bondMarketplaceAbi } from "./abis/BondMarketplace.ts";
import { bondVaultAbi } from "./abis/BondVault.ts";
import { buybackEngineAbi } from "./abis/BuybackEngine.ts";
import { claimBondAbi } from "./abis/ClaimBond.ts";
import { coverRouterAbi } from "./abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "./abis/GlobalPauseRegistry.ts";
import { policyManagerAbi } from "./abis/PolicyManager.ts";
import { priceAggregatorAbi } from "./abis/PriceAggregator.ts";
import { priceFeedProxyAbi } from "./abis/PriceFeedProxy.ts";
import { protocolTokenAbi } from "./abis/ProtocolToken.ts";
import { twapBurnerAbi } from "./abis/TwapBurner.ts";
import { indexerConfig } from "./lib/config.ts";
import { PONDER_SESSIONS } from "./lib/db/sessions.ts";
import { requireDeployment } from "./lib/deployments.ts";
import { indexedFeeds } from "./src/shared/price-feeds.ts";

const config = indexerConfig(process.env);
const { chainId, contracts, local, ...deployment } = requireDeployment(config.DEPLOYMENT_FILE);
const startBlock = config.START_BLOCK ?? deployment.startBlock;
const { firstBlock, prices, sequencer } = indexedFeeds(process.env);
const aggregators = prices.flatMap(({ phases }) => phases.map(({ aggregator }) => aggregator));

/** The deployed contracts may have roles, those of this repository only where a service needs them. */
const roles = parseAbi([
  "event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender)",
  "event RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender)",
]);

/**
 * Ponder's client starts with 20 requests a second for each URL and raises that by 5 % at a time; one live block needs two
 * requests. Listing the URL sixteen times lets it catch up after a start within a second.
 */
const rpcAliases = 16;

/** Empty, it keeps Ponder from sending its own as a parameter of the session's start, which poolers refuse. */
const databaseUrl = new URL(config.DATABASE_URL);
databaseUrl.searchParams.set("statement_timeout", "");
const poolConfig = {
  max: PONDER_SESSIONS,
  // Ponder's own limit: the login's is for short statements.
  onConnect: (client: ClientBase) => client.query("set statement_timeout = '2min'"),
};

export default createConfig({
  database: { kind: "postgres", connectionString: databaseUrl.href, poolConfig },
  chains: {
    main: {
      id: chainId,
      rpc: Array.from({ length: rpcAliases }, () => config.RPC_URL),
      // With a websocket Ponder does not poll: after a start it reads the newest 30 blocks only once another one is mined.
      ...(config.RPC_WS_URL === undefined ? {} : { ws: config.RPC_WS_URL }),
      pollingInterval: config.POLLING_INTERVAL_MS,
      // A local chain restarts with the same chain id, and the cache would answer with the old chain's logs.
      disableCache: local,
    },
  },
  contracts: {
    CoverRouter: { chain: "main", abi: coverRouterAbi, address: contracts.coverRouter, startBlock },
    PolicyManager: { chain: "main", abi: policyManagerAbi, address: contracts.policyManager, startBlock },
    BondVault: { chain: "main", abi: [...bondVaultAbi, ...roles], address: contracts.bondVault, startBlock },
    ClaimBond: { chain: "main", abi: [...claimBondAbi, ...roles], address: contracts.claimBond, startBlock },
    BondMarketplace: {
      chain: "main",
      abi: [...bondMarketplaceAbi, ...roles],
      address: contracts.marketplace,
      startBlock,
    },
    TwapBurner: {
      chain: "main",
      abi: [...twapBurnerAbi, ...roles],
      address: contracts.twapBurner,
      startBlock,
    },
    BuybackEngine: { chain: "main", abi: buybackEngineAbi, address: contracts.buybackEngine, startBlock },
    GlobalPauseRegistry: {
      chain: "main",
      abi: globalPauseRegistryAbi,
      address: contracts.pauseRegistry,
      startBlock,
    },
    ProtocolToken: {
      chain: "main",
      abi: [...protocolTokenAbi, ...roles],
      address: contracts.protocolToken,
      startBlock,
      // Of its transfers only burns and what changes the reserve: the index ignores all others.
      filter: [
        { event: "Transfer", args: { to: [zeroAddress, contracts.bondVault] } },
        { event: "Upgraded", args: {} },
        { event: "Initialized", args: {} },
        { event: "OwnershipTransferred", args: {} },
        { event: "RoleGranted", args: {} },
        { event: "RoleRevoked", args: {} },
      ],
    },
    /** A name of its own, because Ponder gives a log once for each filter of a contract that matches it. */
    ReserveOutflow: {
      chain: "main",
      abi: protocolTokenAbi,
      address: contracts.protocolToken,
      startBlock,
      filter: { event: "Transfer", args: { from: contracts.bondVault } },
    },
    PriceAggregator: {
      chain: "main",
      abi: priceAggregatorAbi,
      address: [...new Set(aggregators)],
      startBlock: firstBlock,
    },
    PriceFeedProxy: {
      chain: "main",
      abi: priceFeedProxyAbi,
      address: prices.map(({ proxy }) => proxy),
      startBlock: firstBlock,
    },
    SequencerFeed: {
      chain: "main",
      abi: priceAggregatorAbi,
      address: [...new Set(sequencer.aggregators)],
      startBlock: firstBlock,
    },
  },
  blocks: {
    /** Updates the `head` row with every block, from the newest one at the start. */
    Head: { chain: "main", interval: 1, startBlock: "latest" },
  },
});
