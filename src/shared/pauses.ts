import { pauseEvent } from "ponder:schema";
import { type Db, type LogEvent, rowAt } from "./event.ts";

type Pause = typeof pauseEvent.$inferInsert;

/** Records a pause or its end. */
export async function recordPause(
  db: Db,
  event: LogEvent,
  pause: Pick<Pause, "scope" | "paused" | "by" | "price">,
): Promise<void> {
  await db.insert(pauseEvent).values(rowAt(event, pause));
}
