/** The ABIs have the protocol's published events and calls with exactly their types. */
import { type Abi, type Hex, toEventSignature, toFunctionSelector, toFunctionSignature } from "viem";
import { expect, test } from "vitest";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { buybackEngineAbi } from "../../abis/BuybackEngine.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../abis/GlobalPauseRegistry.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";

/** Types of the deployed contracts; `*` marks an indexed argument. */
const burner = [
  "BurnExecuted(uint256,uint256,uint256,uint256)",
  "PremiumReceived(address*,uint256)",
  "MarketplaceFeeReceived(address*,uint256)",
];
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
      "BondQueued(uint256*,address*,uint256*,uint256,uint256)",
      "QueueProcessed(uint256*,address*,uint256,uint256)",
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
    ],
  ],
  [
    "BondMarketplace",
    bondMarketplaceAbi,
    [
      "Listed(uint256*,address*,uint256*,uint256,uint256)",
      "Cancelled(uint256*,address*)",
      "Bought(uint256*,address*,address*,uint256,uint256,uint256)",
      "ListingEmergencyCancelled(uint256*,address*,uint256)",
    ],
  ],
  ["TwapBurner", twapBurnerAbi, burner],
  ["BuybackEngine", buybackEngineAbi, burner],
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
      "processQueue(uint256)",
    ],
  ],
  ["ClaimBond", claimBondAbi, ["maturityDate(uint256)", "balanceOf(address,uint256)"]],
  [
    "BondMarketplace",
    bondMarketplaceAbi,
    ["list(uint256,uint256,uint256)", "executeBuy(uint256)", "cancel(uint256)", "getListing(uint256)"],
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
const views: [string, Abi, Hex, string[]][] = [
  ["getListing", bondMarketplaceAbi, "0x107a274a", ["address", "uint256", "uint256", "uint256", "bool"]],
  ["calculateFees", bondMarketplaceAbi, "0x52238fdd", ["uint256", "uint256", "uint256"]],
  [
    ...(["listings", bondMarketplaceAbi, "0xde74e57b"] as const),
    ["address", "uint256", "uint256", "uint256", "bool", "uint256"],
  ],
  ["isMatured", claimBondAbi, "0x63108990", ["bool"]],
  ["getEpochInfo", claimBondAbi, "0x135022c2", ["bool", "uint256", "uint256", "bool"]],
  ["isProtocolAutoPaused", coverRouterAbi, "0x3fe3fd8e", ["bool"]],
];

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
