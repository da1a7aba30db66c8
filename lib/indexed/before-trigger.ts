/** The order of a policy's logs and its trigger's. */
import { sql } from "drizzle-orm";
import { policy, policyTrigger } from "../../ponder.schema.ts";

/** The position of a row of `policy_trigger`. */
export const ofTrigger = sql`(${policyTrigger.blockNumber}, ${policyTrigger.logIndex})`;

/**
 * Whether a row of `policy` with the trigger's key was bought before it. The row of a key that came again is the newer policy's, and
 * earlier triggers are of the older one.
 */
export const isBeforeTrigger = sql`(${policy.blockNumber}, ${policy.logIndex}) < ${ofTrigger}`;
