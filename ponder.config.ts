import type { ClientBase } from "pg";
import { createConfig } from "ponder";
import { type Address, parseAbi, zeroAddress } from "viem";
import { bondMarketplaceAbi } from "./abis/BondMarketplace.ts";
import { bondVaultAbi } from "./abis/BondVault.ts";
import { buybackEngineAbi } from "./abis/BuybackEngine.ts";
import { claimBondAbi } from "./abis/ClaimBond.ts";
import { coverRouterAbi } from "./abis/CoverRouter.ts";
import { flashShieldAbi } from "./abis/FlashShield.ts";
import { globalPauseRegistryAbi } from "./abis/GlobalPauseRegistry.ts";
import { policyManagerAbi } from "./abis/PolicyManager.ts";
import { priceAggregatorAbi } from "./abis/PriceAggregator.ts";
import { priceFeedProxyAbi } from "./abis/PriceFeedProxy.ts";
import { priceOracleAbi } from "./abis/PriceOracle.ts";
import { protocolTokenAbi } from "./abis/ProtocolToken.ts";
import { shieldAdapterAbi } from "./abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "./abis/ShieldKeeper.ts";
import { twapBurnerAbi } from "./abis/TwapBurner.ts";
import { indexerConfig } from "./lib/config.ts";
import { PONDER_SESSIONS } from "./lib/db/sessions.ts";
import { requireDeployment } from "./lib/deployments.ts";
import { indexedSources } from "./src/shared/sources.ts";

const config = indexerConfig(process.env);
const { chainId, contracts, local, ...deployment } = requireDeployment(config.DEPLOYMENT_FILE);
const startBlock = config.START_BLOCK ?? deployment.startBlock;
const { firstBlock, priceOracle, prices, sequencer, shields } = indexedSources(process.env);
const aggregators = prices.flatMap(({ phases }) => phases.map(({ aggregator }) => aggregator));

/** Contracts that a deployment may lack. Ponder wants an address, and the zero address emits nothing. */
const anyOf = (addresses: readonly (Address | undefined)[], from: number) => {
  const known = [...new Set(addresses.filter((address) => address !== undefined))];
  return known.length > 0
    ? { address: known, startBlock: from }
    : { address: [zeroAddress], startBlock: "latest" as const };
};

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
    CoverRouter: {
      chain: "main",
      abi: [...coverRouterAbi, ...roles],
      address: contracts.coverRouter,
      startBlock,
    },
    PolicyManager: {
      chain: "main",
      abi: [...policyManagerAbi, ...roles],
      address: contracts.policyManager,
      startBlock,
    },
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
    FlashShield: {
      chain: "main",
      abi: [...flashShieldAbi, ...roles],
      ...anyOf(
        shields.map(({ shield }) => shield ?? undefined),
        startBlock,
      ),
    },
    ShieldAdapter: {
      chain: "main",
      abi: [...shieldAdapterAbi, ...roles],
      ...anyOf(
        shields.map(({ adapter }) => adapter),
        startBlock,
      ),
    },
    ShieldKeeper: {
      chain: "main",
      abi: [...shieldKeeperAbi, ...roles],
      ...anyOf([contracts.shieldKeeper], startBlock),
    },
    GlobalPauseRegistry: {
      chain: "main",
      abi: [...globalPauseRegistryAbi, ...roles],
      ...anyOf([contracts.pauseRegistry], startBlock),
    },
    PriceOracle: { chain: "main", abi: [...priceOracleAbi, ...roles], address: priceOracle, startBlock },
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
    PriceAggregator: { chain: "main", abi: priceAggregatorAbi, ...anyOf(aggregators, firstBlock) },
    PriceFeedProxy: {
      chain: "main",
      abi: priceFeedProxyAbi,
      address: prices.map(({ proxy }) => proxy),
      startBlock: firstBlock,
    },
    SequencerFeed: { chain: "main", abi: priceAggregatorAbi, ...anyOf(sequencer.aggregators, firstBlock) },
  },
  blocks: {
    /** Updates the `head` row with every block, from the newest one at the start. */
    Head: { chain: "main", interval: 1, startBlock: "latest" },
  },
});
