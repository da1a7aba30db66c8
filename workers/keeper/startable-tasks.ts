/** Which due tasks may be begun, from what the ledger knows of them, and when failed ones are tried again. */
import type { Hex } from "viem";
import { OBSERVATION_INTERVAL } from "../../lib/price-rules.ts";
import type { KeeperContext } from "./context.ts";
import type { DueTasks } from "./due-tasks.ts";
import { type FailedPayout, noteFailedPayouts } from "./receivers.ts";
import { type Task, taskName } from "./task.ts";
import { type FailedTask, noteFailures, readTasks, type TaskRecord } from "./task-records.ts";

/** A task that may be begun, with what the ledger knows of it. */
export type StartableTask = { readonly task: Task; readonly record: TaskRecord | undefined };

/** A call that has failed before may fail again, with the gas of those beside it. */
export const hasFailed = ({ record }: StartableTask): boolean => record !== undefined && record.failures > 0;

export type TaskState =
  /** `isNew`: its transaction has done an earlier observation; what failed until then counts no more. */
  | { readonly kind: "startable"; readonly isNew?: true }
  /** Its transaction is under way, or it waits after a failure. */
  | { readonly kind: "busy" }
  /** It is still due although its transaction was mined in `block`, or refused (null). */
  | {
      readonly kind: "failed";
      readonly reason: string;
      readonly block: { readonly number: bigint; readonly hash: Hex } | null;
    };

/**
 * Decides whether a task may be begun.
 * @param head the block of the index in which it was due: a transaction above it may have done it.
 * @param changedIn the block of the policy's last observation or reset: a transaction up to it has done what it was sent for.
 */
export function judgeTask(
  record: TaskRecord | undefined,
  head: bigint,
  changedIn: bigint | null = null,
): TaskState {
  if (!record) return { kind: "startable" };
  const { transaction, waitsToRetry } = record;
  if (!transaction) return { kind: waitsToRetry ? "busy" : "startable" };
  const { state, abandoned, block, failureCode, failure } = transaction;
  if (abandoned) return { kind: waitsToRetry ? "busy" : "startable" };
  switch (state) {
    case "accepted":
    case "signed":
    case "broadcast":
      return { kind: "busy" };
    case "mined":
    case "confirmed":
      if (block === null || block.number > head) return { kind: "busy" };
      if (changedIn !== null && block.number <= changedIn) return { kind: "startable", isNew: true };
      return { kind: "failed", reason: `its call failed in block ${block.number}`, block };
    case "failed": {
      if (block !== null && block.number > head) return { kind: "busy" };
      const reason = failure ?? "it failed without a reason";
      // Refused before it was signed because the wallet could not sign: the task itself has not failed.
      if (block === null && failureCode !== "onchain_revert")
        return { kind: waitsToRetry ? "busy" : "startable" };
      return { kind: "failed", reason, block };
    }
    case "replaced":
      return { kind: "startable" };
  }
}

/**
 * The due tasks that are not under way and do not wait after a failure, in their order, those that have failed last. Notes what was
 * mined and has changed nothing.
 */
export async function startableTasks(
  context: KeeperContext,
  { head, tasks }: DueTasks,
): Promise<StartableTask[]> {
  const { sql, chainId, leftAlone } = context;
  const looked = tasks.filter((task) => !leftAlone.has(taskName(task)));
  const records = await readTasks(sql, chainId, looked);
  const startable: StartableTask[] = [];
  const failed: FailedAttempt[] = [];
  const payouts: FailedPayout[] = [];
  for (const [n, task] of looked.entries()) {
    const record = records[n];
    const state = judgeTask(record, head.number, task.changedIn);
    if (state.kind === "startable")
      startable.push({ task, record: record && state.isNew ? { ...record, failures: 0 } : record });
    else if (state.kind === "failed" && (await isInChain(context, state))) {
      const { block, reason } = state;
      if (block !== null && (await wasTooEarly(context, task, block.number)))
        startable.push({ task: { ...task, changedIn: block.number }, record });
      else {
        failed.push({ task, record, reason });
        const transactionId = record?.transaction?.id;
        if (block !== null && transactionId) payouts.push({ task, transactionId, block });
      }
    }
  }
  const left = await noteFailedPayouts(context, payouts);
  await storeFailures(
    context,
    failed.map((one) => ({ ...one, isLeft: left.has(one.task) })),
    head.timestamp,
  );
  return failedLast(startable);
}

/** Puts tasks that have failed last: however many fail, the first attempt of the others does not wait for them. */
export function failedLast(startable: readonly StartableTask[]): StartableTask[] {
  return [...startable.filter((one) => !hasFailed(one)), ...startable.filter(hasFailed)];
}

/** Whether a call came within the interval after somebody else's observation: it could not observe, and has not failed. */
async function wasTooEarly({ chain }: KeeperContext, { changedIn }: Task, block: bigint): Promise<boolean> {
  if (changedIn === null) return false;
  const [change, call] = await Promise.all([chain.block(changedIn), chain.block(block)]);
  return !!change && !!call && call.timestamp < change.timestamp + BigInt(OBSERVATION_INTERVAL);
}

/** Whether the block of a failure is the chain's: in a block that a reorganisation has dropped nothing has failed. */
async function isInChain(
  { chain }: KeeperContext,
  { block }: Extract<TaskState, { kind: "failed" }>,
): Promise<boolean> {
  return block === null || (await chain.block(block.number))?.hash === block.hash;
}

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
  /** It is left to its receiver's owner: set aside at once. */
  readonly isLeft?: boolean;
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
  const failed = failures.map(({ task, record, reason, isLeft = false }): FailedTask => {
    const count = Math.max((record?.failures ?? 0) + 1, isLeft ? SET_ASIDE_AFTER : 0);
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
