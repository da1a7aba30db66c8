/** The ABIs have the protocol's published events and calls with exactly their types. */
import {
  type Abi,
  type AbiParameter,
  type Hex,
  toEventSelector,
  toEventSignature,
  toFunctionSelector,
} from "viem";
import { expect, test } from "vitest";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { globalPauseRegistryAbi } from "../../abis/GlobalPauseRegistry.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { priceAggregatorAbi } from "../../abis/PriceAggregator.ts";
import { priceFeedAbi } from "../../abis/PriceFeed.ts";
import { priceFeedProxyAbi } from "../../abis/PriceFeedProxy.ts";
import { priceOracleAbi } from "../../abis/PriceOracle.ts";
import { protocolTokenAbi } from "../../abis/ProtocolToken.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";

/** Types of the deployed contracts; `*` marks an indexed argument. */
const events: [string, Abi, string[]][] = [
  [
    "CoverRouter",
    coverRouterAbi,
    [
      "PolicyPurchased(bytes32*,uint256*,address*,uint256,uint256,uint256,address)",
      "TriggerSubmitted(bytes32*,uint256*,address)",
      "ProductConfigured(bytes32*)",
      "Paused(bool)",
      "AutoPauseActivated(uint256)",
      "AutoPauseDeactivated(uint256)",
      "RelayerUpdated(address,bool)",
      "PolicyManagerUpdated(address*,address*)",
      "TwapBurnerUpdated(address*,address*)",
      "CapacityOracleUpdated(address*,address*)",
      "SequencerFeedUpdated(address*,address*)",
      "UsdcUpdated(address*,address*)",
      "Upgraded(address*)",
      "Initialized(uint64)",
      "OwnershipTransferred(address*,address*)",
    ],
  ],
  [
    "PolicyManager",
    policyManagerAbi,
    [
      "PolicyCreated(bytes32*,uint256*,address,uint256,uint256,uint256)",
      "PolicyTriggered(bytes32*,uint256*,address,uint256,bytes32)",
      "PolicyExpired(bytes32*,uint256*)",
      "ProductRegistered(bytes32*,address)",
      "ProductDeactivated(bytes32*)",
      "ProductRemoved(bytes32*)",
      "RouterUpdated(address*,address*)",
      "BondVaultUpdated(address*,address*)",
    ],
  ],
  [
    "ShieldAdapter",
    shieldAdapterAbi,
    [
      "PolicySettled(uint256*,bool,bytes32)",
      "KeeperUpdated(address*,address*)",
      "RelayerUpdated(address*,address*)",
    ],
  ],
  [
    "FlashShield",
    flashShieldAbi,
    [
      "PolicyCreated(uint256*,address*,uint256,uint256,uint64,uint64)",
      "ConfirmationObserved(uint256*,uint8,uint256,uint256)",
      "PolicyVerified(uint256*,bool,uint256,uint256,bytes32)",
    ],
  ],
  [
    "ShieldKeeper",
    shieldKeeperAbi,
    [
      "PolicySettled(bytes32*,uint256*,address)",
      "SettlementFailed(bytes32*,uint256*,bytes)",
      "KeeperPaused(address*)",
      "KeeperUnpaused(address*)",
    ],
  ],
  [
    "BondVault",
    bondVaultAbi,
    [
      "BondIssued(address*,uint256*,uint256)",
      "BondRedeemed(address*,uint256*,uint256,uint256,uint256)",
      "CapacityReserved(uint256,uint256)",
      "ReservationCommitted(uint256,uint256)",
      "ReservationReleased(uint256,uint256)",
      "ObligationsDecreased(address*,uint256,uint256)",
      "ReservesBurned(address*,uint256,uint256)",
      "BondQueued(address*,uint256*,uint256,uint256*)",
      "QueueProcessed(uint256*,uint256)",
      "FloorPriceBreached(uint256)",
      "PoliciesPausedSet(bool)",
      "AutoInjectionTriggered(uint256,uint256)",
      "AuthorizedCallerUpdated(address*,bool)",
      "BondMaturityUpdated(uint256,uint256)",
      "CexReserveSet(address*,address*)",
    ],
  ],
  [
    "ClaimBond",
    claimBondAbi,
    [
      "TransferSingle(address*,address*,address*,uint256,uint256)",
      "TransferBatch(address*,address*,address*,uint256[],uint256[])",
      "BondsMinted(uint256*,address*,uint256)",
      "BondsBurned(uint256*,address*,uint256)",
      "BondsBurnedByHolder(address*,uint256*,uint256)",
      "EpochCreated(uint256*,uint256)",
      "ObligationsSyncSkipped(address*,uint256*,uint256)",
      "OperatorAuthorized(address*,bool)",
    ],
  ],
  [
    "BondMarketplace",
    bondMarketplaceAbi,
    [
      "Listed(uint256*,address*,uint256*,uint256,uint256)",
      "Cancelled(uint256*,address*)",
      "Bought(uint256*,address*,address*,uint256,uint256,uint256)",
      "WithdrawalCredited(address*,uint256)",
      "Withdrawn(address*,uint256)",
      "MinPricePerUnitUpdated(uint256,uint256)",
      "TwapBurnerUpdated(address*)",
    ],
  ],
  [
    "TwapBurner",
    twapBurnerAbi,
    [
      "PremiumReceived(address*,uint256)",
      "BurnExecuted(uint256,uint256,uint256,uint256)",
      "LegacyBurnExecuted(uint256)",
      "AdaptiveDistributionExecuted(uint256,uint256,uint256,uint256,uint256)",
      "ConfigUpdated(string,uint256)",
      "ReservesUpdated(address*,address*,address*)",
      "AdaptiveModeUpdated(bool)",
    ],
  ],
  [
    "BuybackEngine",
    buybackEngineAbi,
    [
      "OfferExecuted(uint256*,uint256,uint256,uint256)",
      "DoubleBurnExecuted(uint256,uint256,uint256)",
      "CircuitBreakerTriggered(uint256,uint256)",
      "DailyBuybackConfigured(uint256,uint256,uint256)",
      "RoleGranted(bytes32*,address*,address*)",
      "RoleRevoked(bytes32*,address*,address*)",
    ],
  ],
  ["GlobalPauseRegistry", globalPauseRegistryAbi, ["GlobalPauseToggled(bool*,address*,uint256)"]],
];

function marked(abi: Abi): string[] {
  return abi.flatMap((item) => {
    if (item.type !== "event") return [];
    const types = item.inputs.map((input) => `${input.type}${input.indexed ? "*" : ""}`);
    expect(toEventSignature(item)).toBe(`${item.name}(${item.inputs.map((i) => i.type).join(",")})`);
    return [`${item.name}(${types.join(",")})`];
  });
}

test.each(events)("%s has the events of its deployed counterpart", (_, abi, expected) => {
  expect(marked(abi)).toEqual(expect.arrayContaining(expected));
});

/** Selectors and results that clients of the deployed contracts decode. */
const uint = "uint256";
const productConfig = "bytes32,uint256,uint256,uint256,uint32,bool";
const policy = "bytes32,address,address,uint256,uint256,uint256,uint256,uint256,bool,bool";
const round = ["uint80", "int256", uint, uint, "uint80"];
const views: [string, Abi, Hex, string[]][] = [
  ["availableCapacityUSD", bondVaultAbi, "0x0b33c0c9", [uint]],
  ["getStatus", bondVaultAbi, "0x4e69d560", [uint, uint, uint, uint, uint]],
  ["previewRedemption", bondVaultAbi, "0x9b06d174", [uint]],
  ["redeemBond", bondVaultAbi, "0x10495bde", []],
  ["processQueue", bondVaultAbi, "0x43c9e535", []],
  ["totalCommittedUSD", bondVaultAbi, "0xf02def62", [uint]],
  ["totalReservedUSD", bondVaultAbi, "0xfeeb5d22", [uint]],
  ["totalQueuedUSD", bondVaultAbi, "0xec1b7c0d", [uint]],
  ["currentEpoch", bondVaultAbi, "0x76671808", [uint]],
  ["maxRedeemThisEpoch", bondVaultAbi, "0x968cd018", [uint]],
  ["redeemedInEpoch", bondVaultAbi, "0x2af618bc", [uint]],
  ["redeemedByUserInEpoch", bondVaultAbi, "0xafbf51f0", [uint]],
  ["queueLength", bondVaultAbi, "0x48cae3e2", [uint]],
  ["queueByEpoch", bondVaultAbi, "0x4d7988b8", ["address", uint, uint, "uint64"]],
  ["queueProcessedIndex", bondVaultAbi, "0x7ff4de41", [uint]],
  ["MIN_REDEEM_PRICE", bondVaultAbi, "0xa976853e", [uint]],
  ["MAX_REDEMPTION_PER_EPOCH_BPS", bondVaultAbi, "0xdcd4085b", ["uint16"]],
  ["MAX_USER_REDEEM_BPS", bondVaultAbi, "0x4fda83a7", ["uint16"]],
  ["MAX_PROCESS_PER_CALL", bondVaultAbi, "0xc4c4a84b", [uint]],
  ["MAX_QUEUE_PER_EPOCH", bondVaultAbi, "0xe1ca0724", [uint]],
  ["SAFETY_FACTOR_BPS", bondVaultAbi, "0x22c5e386", [uint]],
  ["bondMaturitySeconds", bondVaultAbi, "0x4b1ae73f", [uint]],
  ["priceOracle", bondVaultAbi, "0x2630c12f", ["address"]],
  ["lumina", bondVaultAbi, "0xcd6b8e4d", ["address"]],
  ["claimBond", bondVaultAbi, "0xc7cf7484", ["address"]],
  ["authorizedCallers", bondVaultAbi, "0x536fff6c", ["bool"]],
  ["policiesPaused", bondVaultAbi, "0x9e0b82fd", ["bool"]],
  ["decreaseObligations", bondVaultAbi, "0xeea1f9e7", []],
  ["burnFromReserves", bondVaultAbi, "0x470c1351", []],
  ["setAuthorizedCaller", bondVaultAbi, "0x454bbd29", []],
  ["reserveCapacity", bondVaultAbi, "0x3bba3749", []],
  ["commitReservation", bondVaultAbi, "0xbe228060", []],
  ["releaseReservation", bondVaultAbi, "0x186c72ab", []],
  ["totalBurned", protocolTokenAbi, "0xd89135cd", [uint]],
  ["totalSupply", protocolTokenAbi, "0x18160ddd", [uint]],
  ["latestRoundData", priceFeedAbi, "0xfeaf968c", round],
  ["getRoundData", priceFeedAbi, "0x9a6fc8f5", round],
  ["phaseId", priceFeedProxyAbi, "0x58303b10", ["uint16"]],
  ["phaseAggregators", priceFeedProxyAbi, "0xc1597304", ["address"]],
  ["getLuminaPrice", priceOracleAbi, "0x9b35ad0e", [uint]],
  ["list", bondMarketplaceAbi, "0x19aeb490", [uint]],
  ["executeBuy", bondMarketplaceAbi, "0x33309f2b", []],
  ["cancel", bondMarketplaceAbi, "0x40e58ee5", []],
  ["withdraw", bondMarketplaceAbi, "0x3ccfd60b", []],
  ["pendingWithdrawals", bondMarketplaceAbi, "0xf3f43703", [uint]],
  ["getListing", bondMarketplaceAbi, "0x107a274a", ["address", uint, uint, uint, "bool"]],
  ["listings", bondMarketplaceAbi, "0xde74e57b", ["address", uint, uint, uint, "bool", uint]],
  ["nextListingId", bondMarketplaceAbi, "0xaaccf1ec", [uint]],
  ["SELLER_FEE_BPS", bondMarketplaceAbi, "0x4cdb9ce0", [uint]],
  ["BUYER_FEE_BPS", bondMarketplaceAbi, "0x40e0753f", [uint]],
  ["BPS_DENOMINATOR", bondMarketplaceAbi, "0xe1a45218", [uint]],
  ["calculateFees", bondMarketplaceAbi, "0x52238fdd", [uint, uint, uint]],
  ["minPricePerUnit", bondMarketplaceAbi, "0xdda85de1", [uint]],
  ["balanceOf", claimBondAbi, "0x00fdd58e", [uint]],
  ["isApprovedForAll", claimBondAbi, "0xe985e9c5", ["bool"]],
  ["setApprovalForAll", claimBondAbi, "0xa22cb465", []],
  ["totalSupply", claimBondAbi, "0xbd85b039", [uint]],
  ["maturityDate", claimBondAbi, "0x4211e847", [uint]],
  ["isMatured", claimBondAbi, "0x63108990", ["bool"]],
  ["getEpochInfo", claimBondAbi, "0x135022c2", ["bool", uint, uint, "bool"]],
  ["authorizedOperators", claimBondAbi, "0x181d989b", ["bool"]],
  ["setAuthorizedOperator", claimBondAbi, "0x788f737d", []],
  ["burnByHolder", claimBondAbi, "0x24940917", []],
  ["executeBurn", twapBurnerAbi, "0x1eec9035", []],
  ["burnCooldown", twapBurnerAbi, "0x63dc80ab", [uint]],
  ["minBurnAmount", twapBurnerAbi, "0x839975bb", [uint]],
  ["maxBurnAmount", twapBurnerAbi, "0x6f527aaf", [uint]],
  ["pendingUSDC", twapBurnerAbi, "0x76b2a285", [uint]],
  ["canBurn", twapBurnerAbi, "0xc1eb1840", ["bool"]],
  ["adaptiveModeEnabled", twapBurnerAbi, "0x74886e8c", ["bool"]],
  ["receivePremium", twapBurnerAbi, "0x1c605efc", []],
  ["executeOffer", buybackEngineAbi, "0x8b91e05d", []],
  ["setDailyBuyback", buybackEngineAbi, "0x704044ab", []],
  ["isGloballyPaused", globalPauseRegistryAbi, "0x7ab7236d", ["bool"]],
  ["issueBond", bondVaultAbi, "0x6b5a7fde", [uint]],
  ["purchasePolicyFor", coverRouterAbi, "0xbb0bec2a", [uint]],
  ["purchasePolicy", coverRouterAbi, "0x28e01961", [uint]],
  ["submitTrigger", coverRouterAbi, "0xd3ff498c", []],
  ["quotePremium", coverRouterAbi, "0x9fe8af40", [uint, uint]],
  ["getProductConfig", coverRouterAbi, "0x0e27e635", [`(${productConfig})`]],
  ["products", coverRouterAbi, "0x79054391", productConfig.split(",")],
  ["getProductCount", coverRouterAbi, "0x4a348da9", [uint]],
  ["productList", coverRouterAbi, "0x528c87d2", ["bytes32"]],
  ["authorizedRelayers", coverRouterAbi, "0x29e295c5", ["bool"]],
  ["paused", coverRouterAbi, "0x5c975abb", ["bool"]],
  ["isProtocolAutoPaused", coverRouterAbi, "0x3fe3fd8e", ["bool"]],
  ["autoPausedOnce", coverRouterAbi, "0xeadb3079", ["bool"]],
  ["syncCircuitBreaker", coverRouterAbi, "0x8899c492", []],
  ["MAX_COVERAGE_PER_POLICY", coverRouterAbi, "0x8030972c", [uint]],
  ["MIN_PRICE_FOR_NEW_POLICIES", coverRouterAbi, "0xd5e38a4b", [uint]],
  ["RESET_PRICE_FOR_NEW_POLICIES", coverRouterAbi, "0xd3de49ae", [uint]],
  ["isSequencerActive", coverRouterAbi, "0x0f984f5b", ["bool"]],
  ["sequencerFeed", coverRouterAbi, "0x3b521cb6", ["address"]],
  ["capacityOracle", coverRouterAbi, "0x51abb0c2", ["address"]],
  ["owner", coverRouterAbi, "0x8da5cb5b", ["address"]],
  ["configureProduct", coverRouterAbi, "0xb41fe121", []],
  ["setRelayer", coverRouterAbi, "0xecd8dc3a", []],
  ["setPaused", coverRouterAbi, "0x16c38b3c", []],
  ["globalPauseRegistry", coverRouterAbi, "0xad8fa457", ["address"]],
  ["getPolicy", policyManagerAbi, "0xbcbd7303", [`(${policy})`]],
  ["policies", policyManagerAbi, "0x68149fa5", policy.split(",")],
  ["productShield", policyManagerAbi, "0x07293803", ["address"]],
  ["productActive", policyManagerAbi, "0x2faf3c48", ["bool"]],
  ["markExpired", policyManagerAbi, "0x6635c0bb", []],
  ["policyReservedUSD", policyManagerAbi, "0xd77f7445", [uint]],
  ["getActivePolicyIds", policyManagerAbi, "0x2c68087d", ["uint256[]"]],
  ["productIds", policyManagerAbi, "0xcb51bba9", ["bytes32"]],
  ["getProductCount", policyManagerAbi, "0x4a348da9", [uint]],
  ["registerProduct", policyManagerAbi, "0x9c070ce4", []],
  ["deactivateProduct", policyManagerAbi, "0x5e862564", []],
  ["removeProduct", policyManagerAbi, "0xa26ea496", []],
  ["recordPolicy", policyManagerAbi, "0xea3486c1", [uint]],
  ["triggerPayout", policyManagerAbi, "0x92cfce5e", []],
  ["settlePolicy", policyManagerAbi, "0xb785cbc6", []],
  ["shield", shieldAdapterAbi, "0x70d39cff", ["address"]],
  ["productId", shieldAdapterAbi, "0xc5ce3911", ["bytes32"]],
  ["policyManager", shieldAdapterAbi, "0xab3dbf3b", ["address"]],
  ["keeper", shieldAdapterAbi, "0xaced1661", ["address"]],
  ["relayer", shieldAdapterAbi, "0x8406c079", ["address"]],
  ["setKeeper", shieldAdapterAbi, "0x748747e6", []],
  ["checkAndSettlePolicy", shieldAdapterAbi, "0xa5a666c6", []],
  ["getPolicyInfo", shieldAdapterAbi, "0x9588d85b", ["address", uint, uint, uint, uint, "uint8"]],
  ["createPolicy", shieldAdapterAbi, "0xaafbdf47", [uint]],
  ["verifyAndCalculate", shieldAdapterAbi, "0x81b7304a", ["bool", uint, "bytes32"]],
  ["getPolicyInfo", flashShieldAbi, "0x9588d85b", ["address", uint, uint, "uint64", "uint64", "bool"]],
  ["getConfirmation", flashShieldAbi, "0x34d90c32", ["uint8", "uint64"]],
  ["oracleEvaluable", flashShieldAbi, "0x7cfef68d", ["bool"]],
  ["asset", flashShieldAbi, "0x38d52e0f", ["bytes32"]],
  ["priceFeed", flashShieldAbi, "0x741bef1a", ["address"]],
  ["sequencerFeed", flashShieldAbi, "0x3b521cb6", ["address"]],
  ["router", flashShieldAbi, "0xf887ea40", ["address"]],
  ["performUpkeep", shieldKeeperAbi, "0x4585e33b", []],
  ["checkUpkeep", shieldKeeperAbi, "0x6e04ff0d", ["bool", "bytes"]],
  ["paused", shieldKeeperAbi, "0x5c975abb", ["bool"]],
  ["MAX_POLICIES_PER_UPKEEP", shieldKeeperAbi, "0x4596b0cd", [uint]],
];

/** The first four bytes of events' topics. */
const topics: [string, Abi, Hex][] = [
  ["Listed", bondMarketplaceAbi, "0xd0e26320"],
  ["Cancelled", bondMarketplaceAbi, "0x26deca31"],
  ["Bought", bondMarketplaceAbi, "0xa101afbd"],
  ["WithdrawalCredited", bondMarketplaceAbi, "0x459f5603"],
  ["Withdrawn", bondMarketplaceAbi, "0x7084f547"],
  ["MinPricePerUnitUpdated", bondMarketplaceAbi, "0x0f9c3ecf"],
  ["TwapBurnerUpdated", bondMarketplaceAbi, "0xcd90167e"],
  ["BondsMinted", claimBondAbi, "0x4a8ea61d"],
  ["BondsBurned", claimBondAbi, "0x4e1e34e7"],
  ["BondsBurnedByHolder", claimBondAbi, "0xd24362c2"],
  ["EpochCreated", claimBondAbi, "0x8ec3778c"],
  ["ObligationsSyncSkipped", claimBondAbi, "0xef8635b6"],
  ["OperatorAuthorized", claimBondAbi, "0xc176fcf7"],
  ["TransferSingle", claimBondAbi, "0xc3d58168"],
  ["TransferBatch", claimBondAbi, "0x4a39dc06"],
  ["PremiumReceived", twapBurnerAbi, "0x9bf27b4e"],
  ["BurnExecuted", twapBurnerAbi, "0x5cb2c40b"],
  ["LegacyBurnExecuted", twapBurnerAbi, "0xc172717b"],
  ["AdaptiveDistributionExecuted", twapBurnerAbi, "0xb843a373"],
  ["ConfigUpdated", twapBurnerAbi, "0x12c9dccd"],
  ["ReservesUpdated", twapBurnerAbi, "0x26ae974c"],
  ["AdaptiveModeUpdated", twapBurnerAbi, "0x56ccff54"],
  ["OfferExecuted", buybackEngineAbi, "0xb21b00a6"],
  ["DoubleBurnExecuted", buybackEngineAbi, "0x0bb479ba"],
  ["CircuitBreakerTriggered", buybackEngineAbi, "0xc1b68f84"],
  ["DailyBuybackConfigured", buybackEngineAbi, "0x4440646b"],
  ["RoleGranted", buybackEngineAbi, "0x2f878811"],
  ["RoleRevoked", buybackEngineAbi, "0xf6391f5c"],
  ["PolicyPurchased", coverRouterAbi, "0x91cfa990"],
  ["TriggerSubmitted", coverRouterAbi, "0xb9941a33"],
  ["ProductConfigured", coverRouterAbi, "0x479c4c41"],
  ["Paused", coverRouterAbi, "0x0e2fb031"],
  ["RelayerUpdated", coverRouterAbi, "0x4b36b2e6"],
  ["AutoPauseActivated", coverRouterAbi, "0xe08810fb"],
  ["AutoPauseDeactivated", coverRouterAbi, "0x8e962b52"],
  ["PolicyManagerUpdated", coverRouterAbi, "0x8db82d30"],
  ["TwapBurnerUpdated", coverRouterAbi, "0x20db48d1"],
  ["CapacityOracleUpdated", coverRouterAbi, "0xcfd00f3b"],
  ["SequencerFeedUpdated", coverRouterAbi, "0xdeeb900b"],
  ["UsdcUpdated", coverRouterAbi, "0x88f35651"],
  ["Upgraded", coverRouterAbi, "0xbc7cd75a"],
  ["Initialized", coverRouterAbi, "0xc7f505b2"],
  ["OwnershipTransferred", coverRouterAbi, "0x8be0079c"],
  ["PolicyCreated", policyManagerAbi, "0x449aa133"],
  ["PolicyTriggered", policyManagerAbi, "0x3f5f7ac4"],
  ["PolicyExpired", policyManagerAbi, "0x5ff9b85e"],
  ["ProductRegistered", policyManagerAbi, "0xc9484fe8"],
  ["ProductDeactivated", policyManagerAbi, "0xd1a08bc6"],
  ["ProductRemoved", policyManagerAbi, "0xb00b1839"],
  ["RouterUpdated", policyManagerAbi, "0x02dc5c23"],
  ["BondVaultUpdated", policyManagerAbi, "0xd6a79c4d"],
  ["PolicySettled", shieldAdapterAbi, "0x9098c45f"],
  ["KeeperUpdated", shieldAdapterAbi, "0x53d3703f"],
  ["RelayerUpdated", shieldAdapterAbi, "0x605ca4e4"],
  ["PolicyCreated", flashShieldAbi, "0xa1a29558"],
  ["ConfirmationObserved", flashShieldAbi, "0x3b434d60"],
  ["PolicyVerified", flashShieldAbi, "0xce0a99de"],
  ["PolicySettled", shieldKeeperAbi, "0xa150cb89"],
  ["SettlementFailed", shieldKeeperAbi, "0x64fa66b8"],
  ["KeeperPaused", shieldKeeperAbi, "0xcf61c2e6"],
  ["KeeperUnpaused", shieldKeeperAbi, "0x0cce08d1"],
  ["GlobalPauseToggled", globalPauseRegistryAbi, "0xbaf74e37"],
  ["Transfer", protocolTokenAbi, "0xddf252ad"],
  ["AnswerUpdated", priceAggregatorAbi, "0x0559884f"],
  ["AggregatorConfirmed", priceFeedProxyAbi, "0x33745f67"],
];

test.each(topics)("%s has the deployed topic", (name, abi, topic) => {
  const event = abi.find((item) => item.type === "event" && item.name === name);
  if (event?.type !== "event") throw new Error(`there is no ${name}`);
  expect(toEventSelector(event).slice(0, 10)).toBe(topic);
});

/** Of the market those of the specification, the others as deployed. */
const errors: [string, Abi, Hex][] = [
  ["InsufficientListingValue", bondMarketplaceAbi, "0x374133d0"],
  ["NotBondOwner", bondMarketplaceAbi, "0xee95bba6"],
  ["NotMatured", bondMarketplaceAbi, "0xbb6ab5cc"],
  ["ListingNotFound", bondMarketplaceAbi, "0x0193e51c"],
  ["ORACLE_UNAVAILABLE", bondVaultAbi, "0xe432e26e"],
  ["OracleStale", priceOracleAbi, "0x44d9c22e"],
  ["OracleInsufficientCardinality", priceOracleAbi, "0xbf43e56d"],
  ["PriceDeviationTooHigh", priceOracleAbi, "0xe9b5646f"],
  ["ContractPaused", coverRouterAbi, "0xab35696f"],
  ["NotAuthorizedRelayer", coverRouterAbi, "0xacf52825"],
  ["ProductNotConfigured", coverRouterAbi, "0x6d417ea4"],
  ["ProductInactive", coverRouterAbi, "0x5d042eb9"],
  ["InvalidCoverage", coverRouterAbi, "0x2340cc3a"],
  ["SafeERC20FailedOperation", coverRouterAbi, "0x5274afe7"],
  ["InvalidChainId", coverRouterAbi, "0x9fba672f"],
  ["InvalidChainId", policyManagerAbi, "0x9fba672f"],
  ["ProductNotFound", policyManagerAbi, "0xb9780c7f"],
  ["ProductNotActive", policyManagerAbi, "0xaa62be1a"],
  ["InsufficientCapacity", policyManagerAbi, "0x1040f089"],
  ["OnlyRouter", policyManagerAbi, "0x9e41bdd7"],
  ["OracleUnavailableRetry", policyManagerAbi, "0xb679c303"],
  ["PolicyTriggerable", policyManagerAbi, "0x39ffbfd2"],
  ["InvalidAsset", flashShieldAbi, "0x8196d462"],
  ["KeeperPausedError", shieldKeeperAbi, "0x84786f65"],
  ["ERC1155InvalidReceiver", claimBondAbi, "0x57f447ce"],
];

test.each(errors)("the error %s has its published selector", (name, abi, selector) => {
  const error = abi.find((item) => item.type === "error" && item.name === name);
  if (error?.type !== "error") throw new Error(`there is no ${name}`);
  expect(toFunctionSelector(`${error.name}(${error.inputs.map((input) => input.type).join(",")})`)).toBe(
    selector,
  );
});

/** The type of a result; a tuple with those of its fields. */
const layoutOf = (output: AbiParameter): string =>
  "components" in output ? `(${output.components.map(layoutOf).join(",")})` : output.type;

test.each(views)("%s has the deployed selector and results", (name, abi, selector, results) => {
  // Two functions may have one name.
  const named = abi.flatMap((item) => (item.type === "function" && item.name === name ? [item] : []));
  expect(named.map(toFunctionSelector)).toContain(selector);
  const view = named.find((item) => toFunctionSelector(item) === selector);
  if (!view) throw new Error(`there is no ${name}`);
  expect(view.outputs.map(layoutOf)).toEqual(results);
});
