import { oracleFeed } from "../../../ponder.schema.ts";
import type { IndexQuery } from "../../indexed/reader.ts";

/** The newest answer of each feed, one row per asset. */
export const readFeeds = (db: IndexQuery) => db.select().from(oracleFeed);
