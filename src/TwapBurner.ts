import { ponder } from "ponder:registry";
import { burnerIncome } from "ponder:schema";
import { recordExecution } from "./shared/burns.ts";
import { rowAt } from "./shared/event.ts";

ponder.on("TwapBurner:PremiumReceived", async ({ event, context: { db } }) => {
  const { from, amount: usdcAmount } = event.args;
  await db.insert(burnerIncome).values(rowAt(event, { from, usdcAmount }));
});

ponder.on("TwapBurner:BurnExecuted", async ({ event, context: { db } }) => {
  await recordExecution(db, event);
});
