import { type EventNames, ponder } from "ponder:registry";
import { adminEvent } from "ponder:schema";
import { jsonArguments, rowAt } from "./shared/event.ts";

/** Administrative events, with their contract's key in the deployment file, or what names it where there is one for each product. */
const adminEvents = [
  ["CoverRouter:Upgraded", "coverRouter"],
  ["CoverRouter:Initialized", "coverRouter"],
  ["CoverRouter:OwnershipTransferred", "coverRouter"],
  ["CoverRouter:PolicyManagerUpdated", "coverRouter"],
  ["CoverRouter:TwapBurnerUpdated", "coverRouter"],
  ["CoverRouter:CapacityOracleUpdated", "coverRouter"],
  ["CoverRouter:SequencerFeedUpdated", "coverRouter"],
  ["CoverRouter:UsdcUpdated", "coverRouter"],
  ["PolicyManager:Upgraded", "policyManager"],
  ["PolicyManager:Initialized", "policyManager"],
  ["PolicyManager:OwnershipTransferred", "policyManager"],
  ["PolicyManager:RouterUpdated", "policyManager"],
  ["PolicyManager:BondVaultUpdated", "policyManager"],
  ["FlashShield:Upgraded", "shield"],
  ["FlashShield:Initialized", "shield"],
  ["FlashShield:OwnershipTransferred", "shield"],
  ["ShieldAdapter:Upgraded", "shieldAdapter"],
  ["ShieldAdapter:Initialized", "shieldAdapter"],
  ["ShieldAdapter:OwnershipTransferred", "shieldAdapter"],
  ["ShieldAdapter:KeeperUpdated", "shieldAdapter"],
  ["ShieldAdapter:RelayerUpdated", "shieldAdapter"],
  ["ShieldKeeper:Upgraded", "shieldKeeper"],
  ["ShieldKeeper:Initialized", "shieldKeeper"],
  ["ShieldKeeper:OwnershipTransferred", "shieldKeeper"],
  ["ShieldKeeper:KeeperPaused", "shieldKeeper"],
  ["ShieldKeeper:KeeperUnpaused", "shieldKeeper"],
  ["BondVault:Upgraded", "bondVault"],
  ["BondVault:Initialized", "bondVault"],
  ["BondVault:OwnershipTransferred", "bondVault"],
  ["BondVault:RoleGranted", "bondVault"],
  ["BondVault:RoleRevoked", "bondVault"],
  ["BondVault:AuthorizedCallerUpdated", "bondVault"],
  ["BondVault:BondMaturityUpdated", "bondVault"],
  ["BondVault:CexReserveSet", "bondVault"],
  ["ClaimBond:Upgraded", "claimBond"],
  ["ClaimBond:Initialized", "claimBond"],
  ["ClaimBond:OwnershipTransferred", "claimBond"],
  ["ClaimBond:RoleGranted", "claimBond"],
  ["ClaimBond:RoleRevoked", "claimBond"],
  ["ClaimBond:OperatorAuthorized", "claimBond"],
  ["ClaimBond:URI", "claimBond"],
  ["BondMarketplace:Upgraded", "marketplace"],
  ["BondMarketplace:Initialized", "marketplace"],
  ["BondMarketplace:OwnershipTransferred", "marketplace"],
  ["BondMarketplace:RoleGranted", "marketplace"],
  ["BondMarketplace:RoleRevoked", "marketplace"],
  ["BondMarketplace:MinPricePerUnitUpdated", "marketplace"],
  ["BondMarketplace:TwapBurnerUpdated", "marketplace"],
  ["TwapBurner:Upgraded", "twapBurner"],
  ["TwapBurner:Initialized", "twapBurner"],
  ["TwapBurner:OwnershipTransferred", "twapBurner"],
  ["TwapBurner:RoleGranted", "twapBurner"],
  ["TwapBurner:RoleRevoked", "twapBurner"],
  ["TwapBurner:ConfigUpdated", "twapBurner"],
  ["TwapBurner:ReservesUpdated", "twapBurner"],
  ["TwapBurner:AdaptiveModeUpdated", "twapBurner"],
  ["BuybackEngine:Upgraded", "buybackEngine"],
  ["BuybackEngine:Initialized", "buybackEngine"],
  ["BuybackEngine:OwnershipTransferred", "buybackEngine"],
  ["BuybackEngine:RoleGranted", "buybackEngine"],
  ["BuybackEngine:RoleRevoked", "buybackEngine"],
  ["BuybackEngine:RoleAdminChanged", "buybackEngine"],
  ["BuybackEngine:DailyBuybackConfigured", "buybackEngine"],
  ["BuybackEngine:CircuitBreakerTriggered", "buybackEngine"],
  ["GlobalPauseRegistry:Upgraded", "pauseRegistry"],
  ["GlobalPauseRegistry:Initialized", "pauseRegistry"],
  ["GlobalPauseRegistry:OwnershipTransferred", "pauseRegistry"],
  ["ProtocolToken:Upgraded", "protocolToken"],
  ["ProtocolToken:Initialized", "protocolToken"],
  ["ProtocolToken:OwnershipTransferred", "protocolToken"],
  ["ProtocolToken:RoleGranted", "protocolToken"],
  ["ProtocolToken:RoleRevoked", "protocolToken"],
] as const satisfies readonly (readonly [EventNames, string])[];

for (const [name, contract] of adminEvents) {
  ponder.on(name, async ({ event, context: { db } }) => {
    const args = jsonArguments(event.args);
    const { address } = event.log;
    await db
      .insert(adminEvent)
      .values(rowAt(event, { contract, address, event: name.slice(name.indexOf(":") + 1), args }));
  });
}
