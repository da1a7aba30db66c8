import type { Address } from "viem";
import { LONGEST_UNSENT } from "./back-off.ts";
import type { Ready } from "./batches.ts";
import type { KeeperContext } from "./context.ts";
import type { FoundWork } from "./find-work.ts";
import { type Failure, type FreeWork, storeFailures } from "./free-work.ts";
import { type Simulated, simulateWork } from "./simulate.ts";
import { type Work, workName } from "./work.ts";

/**
 * Simulates work and returns what succeeds, in its order. What somebody else has done rests until the index shows it; what reverts
 * has failed.
 */
export async function readyWork(
  context: KeeperContext,
  from: Address,
  free: readonly FreeWork[],
  { number, timestamp }: FoundWork["head"],
): Promise<Ready[]> {
  const simulated = await simulateWork(
    context,
    from,
    free.map(({ work }) => work),
    number,
  );
  // Together, because requests of one tick share an HTTP request: one after the other they would delay a crash's first batch.
  const foreign = await Promise.all(
    free.map(({ work }, n) => simulated[n]?.kind === "works" && runsForeignCode(context, work)),
  );
  const newest = await newestAfter(context, simulated, number);
  const ready: Ready[] = [];
  const failures: Failure[] = [];
  for (const [n, one] of free.entries()) {
    const result = simulated[n];
    switch (result?.kind) {
      case "works":
        context.reverted.delete(workName(one.work));
        ready.push({ work: one.work, gas: result.gas, alone: hasFailed(one) || foreign[n] === true });
        break;
      case "reverts":
        if (hasReverted(context, one.work, { head: number, newest }))
          failures.push({ ...one, reason: result.reason });
        break;
      case "done":
        context.meter.doneByOthers(one.work);
        context.resting.set(workName(one.work), true);
        break;
      case "idle":
        context.resting.set(workName(one.work), true);
        break;
      case "unknown":
        break;
    }
  }
  await storeFailures(context, failures, timestamp, LONGEST_UNSENT);
  return ready;
}

/** The node's newest block after a simulation in which calls reverted, otherwise `head`: no call ran in a later one. */
async function newestAfter(
  { chain }: KeeperContext,
  simulated: readonly Simulated[],
  head: bigint,
): Promise<bigint> {
  if (!simulated.some(({ kind }) => kind === "reverts")) return head;
  return (await chain.block("latest"))?.number ?? head;
}

/**
 * Whether a revert counts as a failure. One in a block that the index does not have yet proves nothing: in that block the work may
 * not be due any more. It counts if the work is still due once the index has that block, and reverts again.
 */
function hasReverted(
  { reverted }: Pick<KeeperContext, "reverted">,
  work: Work,
  { head, newest }: { head: bigint; newest: bigint },
): boolean {
  const name = workName(work);
  const first = reverted.get(name);
  if (newest <= head || (first !== undefined && first <= head)) {
    reverted.delete(name);
    return true;
  }
  if (first === undefined) reverted.set(name, newest);
  return false;
}

/** A call that has failed before, or whose batch was refused, may fail again, with the gas of those beside it. */
const hasFailed = ({ record }: FreeWork): boolean =>
  record !== undefined && (record.failures > 0 || record.transaction?.failureCode === "onchain_revert");

/** Whether the receiver of the bonds is a contract, whose code may do anything when it receives them. */
async function runsForeignCode({ chain }: KeeperContext, { receiver }: Work): Promise<boolean> {
  return receiver !== null && (await chain.hasCode(receiver));
}
