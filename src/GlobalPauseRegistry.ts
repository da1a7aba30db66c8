import { ponder } from "ponder:registry";
import { recordPause } from "./shared/pauses.ts";

ponder.on("GlobalPauseRegistry:GlobalPauseToggled", async ({ event, context: { db } }) => {
  const { paused, by } = event.args;
  await recordPause(db, event, { scope: "global", paused, by });
});
