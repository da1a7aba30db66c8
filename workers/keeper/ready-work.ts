import type { Address } from "viem";
import { LONGEST_UNSENT } from "./back-off.ts";
import type { Ready } from "./batches.ts";
import type { KeeperContext } from "./context.ts";
import type { FoundWork } from "./find-work.ts";
import { type Failure, type FreeWork, storeFailures } from "./free-work.ts";
import { simulateWork } from "./simulate.ts";
import { type Work, workName } from "./work.ts";

/** Work that somebody else has done, or that would change nothing yet, is looked at again after this time, in ms. */
const REST_MS = 10_000;
/** Most names of resting work: memory must be bounded. */
const MAX_RESTING = 10_000;

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
  const ready: Ready[] = [];
  const failures: Failure[] = [];
  for (const [n, one] of free.entries()) {
    const result = simulated[n];
    switch (result?.kind) {
      case "works": {
        ready.push({ work: one.work, gas: result.gas, alone: hasFailed(one) || foreign[n] === true });
        break;
      }
      case "reverts":
        failures.push({ ...one, reason: result.reason });
        break;
      case "done":
        context.meter.doneByOthers(one.work);
        rest(context, one.work);
        break;
      case "idle":
        rest(context, one.work);
        break;
      case "unknown":
        break;
    }
  }
  await storeFailures(context, failures, timestamp, LONGEST_UNSENT);
  return ready;
}

/** A call that has failed before, or whose batch was refused, may fail again, with the gas of those beside it. */
const hasFailed = ({ record }: FreeWork): boolean =>
  record !== undefined && (record.failures > 0 || record.transaction?.failureCode === "onchain_revert");

/** Whether the receiver of the bonds is a contract, whose code may do anything when it receives them. */
async function runsForeignCode({ chain }: KeeperContext, { receiver }: Work): Promise<boolean> {
  return receiver !== null && (await chain.hasCode(receiver));
}

function rest({ resting }: KeeperContext, work: Work): void {
  if (resting.size >= MAX_RESTING) resting.clear();
  resting.set(workName(work), performance.now() + REST_MS);
}
