/** The ABIs have the protocol's published events and calls with exactly their types. */
import {
  type Abi,
  type Hex,
  toEventSelector,
  toEventSignature,
  toFunctionSelector,
  toFunctionSignature,
} from "viem";
import { expect, test } from "vitest";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../abis/GlobalPauseRegistry.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { priceOracleAbi } from "../../abis/PriceOracle.ts";
import { protocolTokenAbi } from "../../abis/ProtocolToken.ts";
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
      "PolicyPriceSnapshot(bytes32*,uint256*,uint256)",
    ],
  ],
  [
    "PolicyManager",
    policyManagerAbi,
    [
      "PolicyCreated(bytes32*,uint256*,address,uint256,uint256,uint256)",
      "PolicyTriggered(bytes32*,uint256*,address,uint256,bytes32)",
      "PolicyExpired(bytes32*,uint256*)",
      "PolicyCancelled(bytes32*,uint256*)",
      "ProductRegistered(bytes32*,address)",
      "ProductDeactivated(bytes32*)",
      "ProductRemoved(bytes32*)",
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

const calls: [string, Abi, string[]][] = [
  [
    "CoverRouter",
    coverRouterAbi,
    [
      "purchasePolicyFor(bytes32,uint256,bytes32,address)",
      "purchasePolicy(bytes32,uint256,bytes32)",
      "submitTrigger(bytes32,uint256,bytes)",
      "quotePremium(bytes32,uint256)",
      "getProductConfig(bytes32)",
      "productList(uint256)",
      "getProductCount()",
      "authorizedRelayers(address)",
      "paused()",
      "isSequencerActive()",
    ],
  ],
  [
    "PolicyManager",
    policyManagerAbi,
    [
      "getPolicy(bytes32,uint256)",
      "productShield(bytes32)",
      "productActive(bytes32)",
      "markExpired(bytes32,uint256)",
    ],
  ],
  [
    "BondVault",
    bondVaultAbi,
    [
      "availableCapacityUSD()",
      "previewRedemption(uint256)",
      "redeemBond(uint256,uint256)",
      "processQueue()",
      "setAuthorizedCaller(address,bool)",
      "decreaseObligations(uint256)",
      "burnFromReserves(uint256)",
      "reserveCapacity(uint256)",
      "commitReservation(uint256)",
      "releaseReservation(uint256)",
      "issueBond(address,uint256)",
    ],
  ],
  ["GlobalPauseRegistry", globalPauseRegistryAbi, ["isGloballyPaused()"]],
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

test.each(calls)("%s has the calls of its deployed counterpart", (_, abi, expected) => {
  const signatures = abi.flatMap((item) => (item.type === "function" ? [toFunctionSignature(item)] : []));
  expect(signatures).toEqual(expect.arrayContaining(expected));
});

/** Selectors and results that clients of the deployed contracts decode. */
const uint = "uint256";
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
  ["isProtocolAutoPaused", coverRouterAbi, "0x3fe3fd8e", ["bool"]],
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
  ["InsufficientCapacity", policyManagerAbi, "0x1040f089"],
];

test.each(errors)("the error %s has its published selector", (name, abi, selector) => {
  const error = abi.find((item) => item.type === "error" && item.name === name);
  if (error?.type !== "error") throw new Error(`there is no ${name}`);
  expect(toFunctionSelector(`${error.name}(${error.inputs.map((input) => input.type).join(",")})`)).toBe(
    selector,
  );
});

test.each(views)("%s has the deployed selector and results", (name, abi, selector, results) => {
  const view = abi.find((item) => item.type === "function" && item.name === name);
  if (view?.type !== "function") throw new Error(`there is no ${name}`);
  expect(toFunctionSelector(view)).toBe(selector);
  expect(view.outputs.map((output) => output.type)).toEqual(results);
});

test("getPolicy returns ten fields in the published order", () => {
  const getPolicy = policyManagerAbi.find((item) => item.type === "function" && item.name === "getPolicy");
  const fields = getPolicy?.type === "function" ? getPolicy.outputs[0] : undefined;
  expect(fields && "components" in fields ? fields.components.map((c) => `${c.type} ${c.name}`) : []).toEqual(
    [
      "bytes32 productId",
      "address shield",
      "address buyer",
      "uint256 coverage",
      "uint256 payout",
      "uint256 premium",
      "uint256 createdAt",
      "uint256 expiresAt",
      "bool triggered",
      "bool expired",
    ],
  );
});
