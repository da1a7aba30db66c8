import { ponder } from "ponder:registry";
import { product, relayerEvent, triggerSubmission } from "ponder:schema";
import { rowAt, withoutNul } from "./shared/event.ts";
import { recordPause } from "./shared/pauses.ts";
import { openPolicy, recordPrice } from "./shared/policies.ts";
import { changeProductState } from "./shared/products.ts";

ponder.on("CoverRouter:PolicyPurchased", async ({ event, context: { db } }) => {
  const { paidBy, ...purchase } = event.args;
  await openPolicy(db, event, purchase, paidBy);
});

ponder.on("CoverRouter:PolicyPriceSnapshot", async ({ event, context: { db } }) => {
  await recordPrice(db, event);
});

ponder.on("CoverRouter:TriggerSubmitted", async ({ event, context: { db } }) => {
  await db.insert(triggerSubmission).values(rowAt(event, event.args));
});

ponder.on("CoverRouter:ProductConfigured", async ({ event, context: { db } }) => {
  // The router copies the manager's shield, which may have another one by the next purchase.
  const known = await db.find(product, { productId: event.args.productId });
  const shield = known?.registeredShield ?? null;
  await changeProductState(db, event, "configured", {}, shield === null ? {} : { shield });
});

ponder.on("CoverRouter:ProductTermsSet", async ({ event, context: { db } }) => {
  const { name, asset, durationSeconds, premiumPpm, triggerDropBps } = event.args;
  const terms = {
    name: withoutNul(name),
    asset,
    durationSeconds: BigInt(durationSeconds),
    premiumPpm: BigInt(premiumPpm),
    triggerDropBps,
  };
  await changeProductState(
    db,
    event,
    "terms_set",
    {
      ...terms,
      durationSeconds: durationSeconds.toString(),
      premiumPpm: premiumPpm.toString(),
      triggerDropBps: triggerDropBps.toString(),
    },
    terms,
  );
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
