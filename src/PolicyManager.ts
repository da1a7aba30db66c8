import { ponder } from "ponder:registry";
import { policyClosing } from "ponder:schema";
import { recordTrigger } from "./shared/bonds.ts";
import { rowAt } from "./shared/event.ts";
import { changePolicy, openPolicy } from "./shared/policies.ts";
import { changeProductState } from "./shared/products.ts";

ponder.on("PolicyManager:PolicyCreated", async ({ event, context }) => {
  await openPolicy(context, event, event.args, null);
});

ponder.on("PolicyManager:PolicyTriggered", async ({ event, context: { db } }) => {
  await recordTrigger(db, event);
});

ponder.on("PolicyManager:PolicyExpired", async ({ event, context: { db } }) => {
  // A policy expires by time. This event only releases its capacity.
  await changePolicy(db, event.args, { markedExpiredAt: event.block.timestamp });
  await db.insert(policyClosing).values(rowAt(event, event.args));
});

ponder.on("PolicyManager:ProductRegistered", async ({ event, context: { db } }) => {
  const { shield } = event.args;
  await changeProductState(
    db,
    event,
    "registered",
    { shield: shield.toLowerCase() },
    { shield, active: true },
  );
});

ponder.on("PolicyManager:ProductDeactivated", async ({ event, context: { db } }) => {
  await changeProductState(db, event, "deactivated", {}, { active: false });
});

// The manager only forgets it in its list: the product is still sold.
ponder.on("PolicyManager:ProductRemoved", async ({ event, context: { db } }) => {
  await changeProductState(db, event, "removed", {}, {});
});
