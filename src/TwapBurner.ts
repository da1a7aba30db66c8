import { ponder } from "ponder:registry";
import { burnerIncome } from "ponder:schema";
import { isAddressEqual } from "viem";
import { recordExecution } from "./shared/burns.ts";
import { rowAt } from "./shared/event.ts";

ponder.on("TwapBurner:PremiumReceived", async ({ event, context: { db, contracts } }) => {
  const { from, amount: usdcAmount } = event.args;
  // Anybody may pay the burner: a premium comes from the router.
  if (!isAddressEqual(from, contracts.CoverRouter.address)) return;
  await db.insert(burnerIncome).values(rowAt(event, { from, usdcAmount }));
});

ponder.on("TwapBurner:BurnExecuted", async ({ event, context: { db } }) => {
  await recordExecution(db, event);
});
