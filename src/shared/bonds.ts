import { bondIssue, policy, policyTrigger } from "ponder:schema";
import type { Db, LogEvent } from "./event.ts";
import { pairWithinTransaction } from "./pairing.ts";

/**
 * Links a trigger (`first`) with the bond that pays it (`second`). `BondIssued` has no policy and `PolicyTriggered` no
 * epoch, but both are logs of one transaction for the same holder, in the same order.
 */
export async function linkTrigger(
  db: Db,
  event: LogEvent,
  side: "first" | "second",
  holder: `0x${string}`,
): Promise<void> {
  const { number: blockNumber } = event.block;
  const { logIndex } = event.log;
  const key = holder.toLowerCase();
  const other = await pairWithinTransaction(db, "bond", event.transaction.hash, {
    ...{ side, key, logIndex },
  });
  if (other === undefined) return;
  const [triggerAt, issueAt] = side === "first" ? [logIndex, other] : [other, logIndex];
  const trigger = await db.find(policyTrigger, { blockNumber, logIndex: triggerAt });
  const issue = await db.find(bondIssue, { blockNumber, logIndex: issueAt });
  if (trigger === null || issue === null) return;
  const { productId, policyId } = trigger;
  const { epochId: bondEpochId, usdAmount: bondAmount } = issue;
  await db.update(policyTrigger, { blockNumber, logIndex: triggerAt }).set({ bondEpochId });
  await db.update(bondIssue, { blockNumber, logIndex: issueAt }).set({ productId, policyId });
  if (await db.find(policy, { productId, policyId })) {
    await db.update(policy, { productId, policyId }).set({ bondEpochId, bondAmount });
  }
}
