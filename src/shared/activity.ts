import { activity } from "ponder:schema";
import { type Db, type LogEvent, position } from "./event.ts";

type Entry = Pick<typeof activity.$inferSelect, "type" | "actor" | "amount" | "ref">;

/** Adds an event to the unified feed. */
export async function recordActivity(db: Db, event: LogEvent, entry: Entry): Promise<void> {
  await db
    .insert(activity)
    .values({ ...position(event), ...entry })
    .onConflictDoNothing();
}
