import { ponder } from "ponder:registry";
import { policy, policyClosing, policyTrigger } from "ponder:schema";
import { linkTrigger } from "./shared/bonds.ts";
import { position } from "./shared/event.ts";
import { closePolicy, openPolicy } from "./shared/policies.ts";
import { changeProductState } from "./shared/products.ts";

ponder.on("PolicyManager:PolicyCreated", async ({ event, context: { db } }) => {
  await openPolicy(db, event, event.args, null);
});

ponder.on("PolicyManager:PolicyTriggered", async ({ event, context: { db } }) => {
  const { productId, policyId, buyer } = event.args;
  const triggered = await db
    .insert(policyTrigger)
    .values({ ...position(event), ...event.args })
    .onConflictDoNothing();
  if (triggered === null) return;
  await closePolicy(db, { productId, policyId }, { triggeredAt: event.block.timestamp });
  await linkTrigger(db, event, "first", buyer);
});

ponder.on("PolicyManager:PolicyCancelled", async ({ event, context: { db } }) => {
  const { productId, policyId } = event.args;
  const closed = await closePolicy(db, { productId, policyId }, { cancelledAt: event.block.timestamp });
  const cancelled = await db
    .insert(policyClosing)
    .values({ ...position(event), kind: "cancelled", productId, policyId, ...closed })
    .onConflictDoNothing();
  if (cancelled === null) return;
});

ponder.on("PolicyManager:PolicyExpired", async ({ event, context: { db } }) => {
  const { productId, policyId } = event.args;
  const expired = await db.find(policy, { productId, policyId });
  await db
    .insert(policyClosing)
    .values({
      ...position(event),
      kind: "expired",
      productId,
      policyId,
      buyer: expired?.buyer,
      premium: expired?.premium,
    })
    .onConflictDoNothing();
  // A policy expires by time. This event only releases its capacity.
  if (expired) {
    await db.update(policy, { productId, policyId }).set({ markedExpiredAt: event.block.timestamp });
  }
});

ponder.on("PolicyManager:ProductRegistered", async ({ event, context: { db } }) => {
  const { shield } = event.args;
  await changeProductState(
    db,
    event,
    "registered",
    { shield: shield.toLowerCase() },
    { shield, active: true, removed: false },
  );
});

ponder.on("PolicyManager:ProductDeactivated", async ({ event, context: { db } }) => {
  await changeProductState(db, event, "deactivated", {}, { active: false });
});

ponder.on("PolicyManager:ProductRemoved", async ({ event, context: { db } }) => {
  await changeProductState(db, event, "removed", {}, { active: false, removed: true });
});
