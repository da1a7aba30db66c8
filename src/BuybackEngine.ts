import { ponder } from "ponder:registry";
import { recordExecution, recordIncome } from "./shared/burns.ts";

ponder.on("BuybackEngine:BurnExecuted", async ({ event, context: { db } }) => {
  await recordExecution(db, event, "buyback_engine");
});

ponder.on("BuybackEngine:PremiumReceived", async ({ event, context: { db } }) => {
  await recordIncome(db, event, "buyback_engine", "premium");
});

ponder.on("BuybackEngine:MarketplaceFeeReceived", async ({ event, context: { db } }) => {
  await recordIncome(db, event, "buyback_engine", "marketplace_fee");
});
