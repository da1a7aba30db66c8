import { ponder } from "ponder:registry";
import { policy, policyPrice, relayer, relayerEvent, triggerSubmission } from "ponder:schema";
import { recordActivity } from "./shared/activity.ts";
import { position, withoutNul } from "./shared/event.ts";
import { recordPause } from "./shared/pauses.ts";
import { openPolicy } from "./shared/policies.ts";
import { changeProductState } from "./shared/products.ts";

ponder.on("CoverRouter:PolicyPurchased", async ({ event, context: { db } }) => {
  const { paidBy, ...purchase } = event.args;
  await openPolicy(db, event, purchase, paidBy);
  await recordActivity(db, event, {
    type: "policy_purchased",
    actor: purchase.buyer,
    amount: purchase.coverage,
    ref: `${purchase.productId}:${purchase.policyId}`,
  });
});

ponder.on("CoverRouter:PolicyPriceSnapshot", async ({ event, context: { db } }) => {
  const { productId, policyId, priceSnapshot } = event.args;
  await db
    .insert(policyPrice)
    .values({ ...position(event), productId, policyId, priceSnapshot })
    .onConflictDoUpdate({ ...position(event), priceSnapshot });
  // Logged before or after the purchase. The second of the two sets the price.
  if (await db.find(policy, { productId, policyId })) {
    await db.update(policy, { productId, policyId }).set({ priceSnapshot });
  }
});

ponder.on("CoverRouter:TriggerSubmitted", async ({ event, context: { db } }) => {
  await db
    .insert(triggerSubmission)
    .values({ ...position(event), ...event.args })
    .onConflictDoNothing();
});

ponder.on("CoverRouter:ProductConfigured", async ({ event, context: { db } }) => {
  await changeProductState(db, event, "configured", {}, {});
});

ponder.on("CoverRouter:ProductTermsSet", async ({ event, context: { db } }) => {
  const { name, asset, durationSeconds, waitingSeconds, premiumPpm, triggerDropBps, legacy } = event.args;
  const terms = {
    name: withoutNul(name),
    asset,
    durationSeconds: BigInt(durationSeconds),
    waitingSeconds: BigInt(waitingSeconds),
    premiumPpm: BigInt(premiumPpm),
    triggerDropBps,
    legacy,
  };
  await changeProductState(
    db,
    event,
    "terms_set",
    {
      ...terms,
      durationSeconds: durationSeconds.toString(),
      waitingSeconds: waitingSeconds.toString(),
      premiumPpm: premiumPpm.toString(),
      triggerDropBps: triggerDropBps.toString(),
    },
    terms,
  );
});

ponder.on("CoverRouter:ProductPauseSet", async ({ event, context: { db } }) => {
  const { paused } = event.args;
  await changeProductState(db, event, "pause_set", { paused }, { paused });
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
  const { relayer: address, authorized } = event.args;
  await db
    .insert(relayerEvent)
    .values({ ...position(event), relayer: address, authorized })
    .onConflictDoNothing();
  const state = { authorized, ...position(event) };
  await db
    .insert(relayer)
    .values({ address, ...state })
    .onConflictDoUpdate(state);
});
