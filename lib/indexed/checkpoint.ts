import { type SQL, sql } from "drizzle-orm";

/** In Ponder's checkpoint strings the block number follows the timestamp (10 digits) and the chain id (16). */
export const checkpointBlock = (checkpoint: SQL) => sql`substr(${checkpoint}, 27, 16)::numeric`;
