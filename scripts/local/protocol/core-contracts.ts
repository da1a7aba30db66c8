/** The transactions that create all contracts except the shields and the price verifier. */
import { type Address, encodeDeployData, encodeFunctionData } from "viem";
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../../abis/GlobalPauseRegistry.ts";
import { mockPriceFeedAbi } from "../../../abis/MockPriceFeed.ts";
import { mockSequencerFeedAbi } from "../../../abis/MockSequencerFeed.ts";
import { mockUsdcAbi } from "../../../abis/MockUSDC.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { priceOracleAbi } from "../../../abis/PriceOracle.ts";
import { protocolTokenAbi } from "../../../abis/ProtocolToken.ts";
import { proxyAbi } from "../../../abis/Proxy.ts";
import { shieldKeeperAbi } from "../../../abis/ShieldKeeper.ts";
import { twapBurnerAbi } from "../../../abis/TwapBurner.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { bytecodeOf } from "./bytecode.ts";
import { creation, type PlannedTransaction } from "./planned-transactions.ts";

/** The first prices of the feeds, USD with 8 decimals. */
export const initialPrices = {
  btcUsdFeed: 60_000_00000000n,
  ethUsdFeed: 3_000_00000000n,
} as const;

/** The token's first price, USD with 18 decimals. */
export const initialTokenPrice = 10n ** 17n;

/** The contracts of a deployment, with the one that the service finds on chain and no deployment file names. */
export type PlannedContracts = Required<Contracts> & { readonly priceOracle: Address };
export type PlannedKey = keyof PlannedContracts;

/** The order in which the contracts are created. */
export const creationOrder = [
  "protocolToken",
  "usdc",
  "btcUsdFeed",
  "ethUsdFeed",
  "sequencerFeed",
  "priceOracle",
  "pauseRegistry",
  "twapBurner",
  "buybackEngine",
  "bondVault",
  "claimBond",
  "policyManager",
  "shieldKeeper",
  "coverRouter",
  "marketplace",
] as const satisfies readonly PlannedKey[];

/** A contract of the protocol is an implementation and, right after it, the proxy with its address; mocks have no proxy. */
const withoutProxy: ReadonlySet<PlannedKey> = new Set(["usdc", "btcUsdFeed", "ethUsdFeed", "sequencerFeed"]);

/** How many transactions create a contract; the last one's is the contract's address. */
export const creationsOf = (key: PlannedKey): number => (withoutProxy.has(key) ? 1 : 2);

/** The creation of a proxy, owned by `owner`. */
export const proxyCreation = (what: string, implementation: Address, owner: Address): PlannedTransaction =>
  creation(
    `proxy of ${what}`,
    encodeDeployData({
      abi: proxyAbi,
      bytecode: bytecodeOf("Proxy"),
      args: [
        implementation,
        encodeFunctionData({ abi: coverRouterAbi, functionName: "initialize", args: [owner] }),
      ],
    }),
  );

/**
 * The creation of each contract, without its proxy; `c` has the addresses that they will have, or those that the network has
 * already. `maximumCoverage`: of a policy, USDC with 6 decimals.
 */
export function coreCreations(
  c: PlannedContracts,
  owner: Address,
  maximumCoverage: bigint,
): Readonly<Record<PlannedKey, PlannedTransaction>> {
  const feed = (description: string, price: bigint) =>
    creation(
      `feed ${description}`,
      encodeDeployData({
        abi: mockPriceFeedAbi,
        bytecode: bytecodeOf("MockPriceFeed"),
        args: [description, price],
      }),
    );
  // The owner is also the treasury: it provides the tokens that the burner sells, and receives the USDC.
  return {
    protocolToken: creation(
      "ProtocolToken",
      encodeDeployData({
        abi: protocolTokenAbi,
        bytecode: bytecodeOf("ProtocolToken"),
        args: [c.bondVault],
      }),
    ),
    usdc: creation("MockUSDC", encodeDeployData({ abi: mockUsdcAbi, bytecode: bytecodeOf("MockUSDC") })),
    btcUsdFeed: feed("BTC / USD", initialPrices.btcUsdFeed),
    ethUsdFeed: feed("ETH / USD", initialPrices.ethUsdFeed),
    sequencerFeed: creation(
      "MockSequencerFeed",
      encodeDeployData({ abi: mockSequencerFeedAbi, bytecode: bytecodeOf("MockSequencerFeed") }),
    ),
    priceOracle: creation(
      "PriceOracle",
      encodeDeployData({
        abi: priceOracleAbi,
        bytecode: bytecodeOf("PriceOracle"),
        args: [initialTokenPrice],
      }),
    ),
    pauseRegistry: creation(
      "GlobalPauseRegistry",
      encodeDeployData({
        abi: globalPauseRegistryAbi,
        bytecode: bytecodeOf("GlobalPauseRegistry"),
      }),
    ),
    twapBurner: creation(
      "TwapBurner",
      encodeDeployData({
        abi: twapBurnerAbi,
        bytecode: bytecodeOf("TwapBurner"),
        args: [c.usdc, c.protocolToken, c.priceOracle, owner],
      }),
    ),
    buybackEngine: creation(
      "BuybackEngine",
      encodeDeployData({
        abi: buybackEngineAbi,
        bytecode: bytecodeOf("BuybackEngine"),
        args: [c.usdc, c.marketplace, c.claimBond, c.bondVault, c.priceOracle],
      }),
    ),
    bondVault: creation(
      "BondVault",
      encodeDeployData({
        abi: bondVaultAbi,
        bytecode: bytecodeOf("BondVault"),
        args: [c.policyManager, c.claimBond, c.protocolToken, c.priceOracle],
      }),
    ),
    claimBond: creation(
      "ClaimBond",
      encodeDeployData({
        abi: claimBondAbi,
        bytecode: bytecodeOf("ClaimBond"),
        args: [c.bondVault],
      }),
    ),
    policyManager: creation(
      "PolicyManager",
      encodeDeployData({
        abi: policyManagerAbi,
        bytecode: bytecodeOf("PolicyManager"),
        args: [c.coverRouter, c.bondVault],
      }),
    ),
    coverRouter: creation(
      "CoverRouter",
      encodeDeployData({
        abi: coverRouterAbi,
        bytecode: bytecodeOf("CoverRouter"),
        args: [
          c.policyManager,
          c.usdc,
          c.twapBurner,
          c.pauseRegistry,
          c.priceOracle,
          c.sequencerFeed,
          maximumCoverage,
        ],
      }),
    ),
    shieldKeeper: creation(
      "ShieldKeeper",
      encodeDeployData({
        abi: shieldKeeperAbi,
        bytecode: bytecodeOf("ShieldKeeper"),
        args: [c.policyManager],
      }),
    ),
    marketplace: creation(
      "BondMarketplace",
      encodeDeployData({
        abi: bondMarketplaceAbi,
        bytecode: bytecodeOf("BondMarketplace"),
        args: [c.claimBond, c.usdc],
      }),
    ),
  };
}
