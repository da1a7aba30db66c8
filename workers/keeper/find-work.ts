import { readDue } from "../../lib/indexed/due.ts";
import { readExpired, readQueueHead } from "../../lib/indexed/overdue.ts";
import type { KeeperContext } from "./context.ts";
import { expiryWork, queueWork, THROTTLE_EPOCH, triggerWork, type Work } from "./work.ts";

/** Expired policies that one round closes at most. */
const EXPIRED = 100;

/** What there is to do at a block: triggers by their deadline, then expired policies, then the redemption queue. */
export type FoundWork = {
  readonly head: { readonly number: bigint; readonly hash: string; readonly timestamp: bigint };
  readonly work: readonly Work[];
};

/** Reads what is due from the index, in one snapshot. Undefined while the index has no complete block. */
export const findWork = ({ index, contracts }: KeeperContext): Promise<FoundWork | undefined> =>
  index.transaction(async (tx) => {
    const due = await readDue(tx);
    if (!due) return undefined;
    const { head, policies } = due;
    const [expired, entry] = await Promise.all([readExpired(tx, head.timestamp, EXPIRED), readQueueHead(tx)]);
    const isPayable = entry && entry.targetEpoch <= head.timestamp / THROTTLE_EPOCH;
    const work = [
      ...policies.map((policy) => triggerWork(contracts, policy)),
      ...expired.map((policy) => expiryWork(contracts, policy)),
      ...(isPayable ? [queueWork(contracts, entry, head.timestamp)] : []),
    ];
    return { head, work };
  });
