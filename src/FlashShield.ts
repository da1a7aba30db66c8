import { ponder } from "ponder:registry";
import { countObservation, recordEvaluation } from "./shared/observations.ts";
import { noteCover } from "./shared/policies.ts";

ponder.on("FlashShield:PolicyCreated", async ({ event }) => noteCover(event));

ponder.on("FlashShield:ConfirmationObserved", async ({ event, context: { db } }) => {
  await countObservation(db, event);
});

ponder.on("FlashShield:PolicyVerified", async ({ event, context: { db } }) => {
  await recordEvaluation(db, event);
});
