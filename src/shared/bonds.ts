import { bondIssue, policyTrigger } from "ponder:schema";
import { type Db, type LogEvent, rowAt } from "./event.ts";
import { pairWithinTransaction } from "./pairing.ts";
import { changePolicy, nameOf, type PolicyKey } from "./policies.ts";
import { perTransaction } from "./transaction.ts";

type Hex = `0x${string}`;
type Triggered = LogEvent & {
  transaction: { from: Hex };
  args: PolicyKey & { buyer: Hex; bondAmount: bigint; reason: Hex };
};
type Issued = LogEvent & { args: { to: Hex; epochId: bigint; usdAmount: bigint } };
type Issue = { logIndex: number; epochId: bigint; usdAmount: bigint };

/**
 * A trigger and the bond that pays it. `BondIssued` has no policy and `PolicyTriggered` no epoch, but both are logs of one
 * transaction for the same holder, in the same order.
 */
const payments = pairWithinTransaction<PolicyKey & { logIndex: number }, Issue>();

/** The logs of this transaction that triggered a policy. */
const triggers = perTransaction(() => new Map<string, number>());

/** Records who submitted a trigger to the router, after the manager has logged it. */
export async function recordSubmitter(
  db: Db,
  event: LogEvent & { args: PolicyKey & { submitter: Hex } },
): Promise<void> {
  const logIndex = triggers(event).get(nameOf(event.args));
  if (logIndex === undefined) return;
  const { number: blockNumber } = event.block;
  const { submitter } = event.args;
  await db.update(policyTrigger, { blockNumber, logIndex }).set({ submitter });
}

/** Records a triggered policy, linked with its bond if that was logged before. */
export async function recordTrigger(db: Db, event: Triggered): Promise<void> {
  const { productId, policyId, buyer } = event.args;
  const { logIndex } = event.log;
  triggers(event).set(nameOf(event.args), logIndex);
  const bond = payments.first(event, buyer.toLowerCase(), { logIndex, productId, policyId });
  const paid = bond && { bondEpochId: bond.epochId, bondAmount: bond.usdAmount };
  await db
    .insert(policyTrigger)
    .values(rowAt(event, { bondEpochId: bond?.epochId, submitter: event.transaction.from, ...event.args }));
  await changePolicy(db, { productId, policyId }, { triggeredAt: event.block.timestamp, ...paid });
  if (bond === undefined) return;
  const { number: blockNumber } = event.block;
  await db.update(bondIssue, { blockNumber, logIndex: bond.logIndex }).set({ productId, policyId });
}

/** Records an issued bond, linked with its trigger if that was logged before. */
export async function recordIssue(db: Db, event: Issued): Promise<void> {
  const { to: holder, epochId, usdAmount } = event.args;
  const { logIndex } = event.log;
  const trigger = payments.second(event, holder.toLowerCase(), { logIndex, epochId, usdAmount });
  const { productId, policyId } = trigger ?? {};
  await db.insert(bondIssue).values(rowAt(event, { holder, epochId, usdAmount, productId, policyId }));
  if (trigger === undefined) return;
  const { number: blockNumber } = event.block;
  await db.update(policyTrigger, { blockNumber, logIndex: trigger.logIndex }).set({ bondEpochId: epochId });
  await changePolicy(db, trigger, { bondEpochId: epochId, bondAmount: usdAmount });
}
