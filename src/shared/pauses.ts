import { pauseEvent, pauseState } from "ponder:schema";
import { type Db, type LogEvent, position } from "./event.ts";

type Pause = typeof pauseEvent.$inferInsert;

/** Records a pause or its end. */
export async function recordPause(
  db: Db,
  event: LogEvent,
  pause: Pick<Pause, "scope" | "paused" | "by" | "price">,
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
