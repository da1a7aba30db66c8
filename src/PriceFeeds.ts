import { ponder } from "ponder:registry";
import { confirmPhase, recordRound } from "./shared/oracle.ts";

ponder.on("PriceAggregator:AnswerUpdated", async ({ event, context: { db } }) => {
  await recordRound(db, event);
});

ponder.on("PriceFeedProxy:AggregatorConfirmed", async ({ event, context: { db } }) => {
  await confirmPhase(db, event);
});
