import { type EventNames, ponder } from "ponder:registry";
import { adminEvent } from "ponder:schema";
import { jsonArguments, rowAt } from "./shared/event.ts";

/** Administrative events, with their contract's key in the deployment file. */
const adminEvents = [
  ["CoverRouter:MinimumTokenPriceSet", "coverRouter"],
  ["CoverRouter:OwnershipTransferred", "coverRouter"],
  ["PolicyManager:OwnershipTransferred", "policyManager"],
  ["BondVault:OwnershipTransferred", "bondVault"],
  ["ClaimBond:OperatorUpdated", "claimBond"],
  ["ClaimBond:OwnershipTransferred", "claimBond"],
  ["ClaimBond:URI", "claimBond"],
  ["BondMarketplace:OwnershipTransferred", "marketplace"],
  ["TwapBurner:KeeperUpdated", "twapBurner"],
  ["TwapBurner:OwnershipTransferred", "twapBurner"],
  ["BuybackEngine:KeeperUpdated", "buybackEngine"],
  ["BuybackEngine:OwnershipTransferred", "buybackEngine"],
  ["GlobalPauseRegistry:OwnershipTransferred", "pauseRegistry"],
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
