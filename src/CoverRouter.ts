import { ponder } from "ponder:registry";
import { relayerEvent, triggerSubmission } from "ponder:schema";
import { recordSubmitter } from "./shared/bonds.ts";
import { rowAt } from "./shared/event.ts";
import { recordPause } from "./shared/pauses.ts";
import { openPolicy } from "./shared/policies.ts";
import { changeProductState } from "./shared/products.ts";

ponder.on("CoverRouter:PolicyPurchased", async ({ event, context }) => {
  const { paidBy, ...purchase } = event.args;
  await openPolicy(context, event, purchase, paidBy);
});

ponder.on("CoverRouter:TriggerSubmitted", async ({ event, context: { db } }) => {
  await db.insert(triggerSubmission).values(rowAt(event, event.args));
  await recordSubmitter(db, event);
});

ponder.on("CoverRouter:ProductConfigured", async ({ event, context: { db } }) => {
  await changeProductState(db, event, "configured", {}, {});
});

ponder.on("CoverRouter:Paused", async ({ event, context: { db } }) => {
  await recordPause(db, event, { scope: "router", paused: event.args.state });
});

ponder.on("CoverRouter:AutoPauseActivated", async ({ event, context: { db } }) => {
  await recordPause(db, event, { scope: "auto", paused: true, price: event.args.priceWei });
});

ponder.on("CoverRouter:AutoPauseDeactivated", async ({ event, context: { db } }) => {
  await recordPause(db, event, { scope: "auto", paused: false, price: event.args.priceWei });
});

ponder.on("CoverRouter:RelayerUpdated", async ({ event, context: { db } }) => {
  await db.insert(relayerEvent).values(rowAt(event, event.args));
});
