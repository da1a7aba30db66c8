import { ponder } from "ponder:registry";
import {
  pauseEvent,
  pauseState,
  policy,
  policyPrice,
  relayer,
  relayerEvent,
  triggerSubmission,
} from "ponder:schema";
import { record } from "./shared/activity.ts";
import { type Db, type LogEvent, position, withoutNul } from "./shared/event.ts";
import { openPolicy } from "./shared/policies.ts";
import { changeProductState } from "./shared/products.ts";

ponder.on("CoverRouter:PolicyPurchased", async ({ event, context: { db } }) => {
  const { paidBy, ...purchase } = event.args;
  await openPolicy(db, event, purchase, paidBy);
  await record(db, event, {
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
  // Logged before or after the purchase itself: whichever comes second brings the two together.
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

async function setPause(
  db: Db,
  event: LogEvent,
  pause: { scope: "router" | "auto"; paused: boolean; price: bigint | null },
): Promise<void> {
  const { scope, paused } = pause;
  await db
    .insert(pauseEvent)
    .values({ ...position(event), ...pause })
    .onConflictDoNothing();
  const state = { paused, updatedAt: event.block.timestamp, updatedAtBlock: event.block.number };
  await db
    .insert(pauseState)
    .values({ scope, ...state })
    .onConflictDoUpdate(state);
}

ponder.on("CoverRouter:Paused", async ({ event, context: { db } }) => {
  await setPause(db, event, { scope: "router", paused: event.args.state, price: null });
});

ponder.on("CoverRouter:AutoPauseActivated", async ({ event, context: { db } }) => {
  await setPause(db, event, { scope: "auto", paused: true, price: event.args.priceWei });
});

ponder.on("CoverRouter:AutoPauseDeactivated", async ({ event, context: { db } }) => {
  await setPause(db, event, { scope: "auto", paused: false, price: event.args.priceWei });
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
