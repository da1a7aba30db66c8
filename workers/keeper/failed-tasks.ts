/** When failed tasks are tried again, and how the operator learns of them. */
import { OBSERVATION_INTERVAL } from "../../lib/price-rules.ts";
import type { KeeperContext } from "./context.ts";
import { type Task, taskName } from "./task.ts";
import { type FailedTask, noteFailures, type TaskRecord } from "./task-records.ts";

/** After the first failure, in seconds; each further one waits four times as long. */
const FIRST = 5;
const FACTOR = 4;
/** Nothing waits longer, in seconds. */
const LONGEST = 3600;
/** Nor longer than this what fails by its simulation, which costs no gas: a longer wait could sleep through an observation. */
export const LONGEST_UNSENT = OBSERVATION_INTERVAL;
/** A policy that has failed this often in a row is set aside: an error is logged, and it is still tried. */
export const SET_ASIDE_AFTER = 5;

/**
 * How long a task waits after its `failures`-th failure in a row, in seconds. Never longer than a quarter of the time that is `left`
 * until its deadline, so that it is tried again while it can be done; `left` is undefined without a deadline. `longest`: in seconds.
 */
export function retryAfter(failures: number, left: bigint | undefined, longest = LONGEST): number {
  const wait = Math.min(FIRST * FACTOR ** Math.min(failures - 1, 10), longest);
  if (left === undefined) return wait;
  return Math.max(FIRST, Math.min(wait, Math.floor(Number(left) / 4)));
}

/** A task that has failed, by its simulation or in a block, with its record until then. */
export type FailedAttempt = {
  readonly task: Task;
  readonly record: TaskRecord | undefined;
  readonly reason: string;
};

/**
 * Notes failures: the tasks wait, longer each time. One that fails again and again is set aside, which is logged as an error once.
 * @param now Unix seconds.
 * @param longest the longest wait, in seconds.
 */
export async function storeFailures(
  { sql, chainId, meter, log }: KeeperContext,
  failures: readonly FailedAttempt[],
  now: bigint,
  longest = LONGEST,
): Promise<void> {
  const failed = failures.map(({ task, record, reason }): FailedTask => {
    const count = (record?.failures ?? 0) + 1;
    const left = task.deadline === null ? undefined : task.deadline - now;
    const transactionId = record?.transaction?.id ?? null;
    const retryInSeconds = retryAfter(count, left, longest);
    return { task, failure: reason, failures: count, retryInSeconds, transactionId };
  });
  await noteFailures(sql, chainId, failed);
  for (const { task, failure, failures: count, retryInSeconds } of failed) {
    meter.failed(task);
    const facts = { task: taskName(task), reason: failure, failures: count, againInSeconds: retryInSeconds };
    if (count === SET_ASIDE_AFTER)
      log.error(facts, "the keeper has set work aside: it fails again and again");
    else if (count < SET_ASIDE_AFTER) log.warn(facts, "the keeper's work has failed");
  }
}
