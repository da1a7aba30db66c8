import { ponder } from "ponder:registry";
import { pauseEvent, pauseState } from "ponder:schema";
import { position } from "./shared/event.ts";

ponder.on("GlobalPauseRegistry:GlobalPauseToggled", async ({ event, context: { db } }) => {
  const { paused, by } = event.args;
  await db
    .insert(pauseEvent)
    .values({ ...position(event), scope: "global", paused, by })
    .onConflictDoNothing();
  const state = { paused, updatedAt: event.block.timestamp, updatedAtBlock: event.block.number };
  await db
    .insert(pauseState)
    .values({ scope: "global", ...state })
    .onConflictDoUpdate(state);
});
