import { asc } from "drizzle-orm";
import { burnerDay } from "../../../ponder.schema.ts";
import type { IndexQuery } from "../../indexed/reader.ts";

/** What each burner did by UTC day, oldest first, one row for each day with an event of the burner. */
export const readBurnerDays = (db: IndexQuery) =>
  db.select().from(burnerDay).orderBy(asc(burnerDay.dayStart));

export type BurnerDay = Awaited<ReturnType<typeof readBurnerDays>>[number];
