import { ponder } from "ponder:registry";
import { recordExecution, recordIncome } from "./shared/burns.ts";

ponder.on("TwapBurner:BurnExecuted", async ({ event, context: { db } }) => {
  await recordExecution(db, event, "twap_burner");
});

ponder.on("TwapBurner:PremiumReceived", async ({ event, context: { db } }) => {
  await recordIncome(db, event, "twap_burner", "premium");
});

ponder.on("TwapBurner:MarketplaceFeeReceived", async ({ event, context: { db } }) => {
  await recordIncome(db, event, "twap_burner", "marketplace_fee");
});
