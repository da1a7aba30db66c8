import { SET_ASIDE_AFTER } from "../../lib/ledger/keeper-tasks.ts";
import { LONGEST, restAfter } from "./back-off.ts";
import type { KeeperContext } from "./context.ts";
import type { FoundWork } from "./find-work.ts";
import { judgeTask, type Standing } from "./standing.ts";
import { type FailedWork, noteFailures, readTasks, type TaskRecord } from "./tasks.ts";
import { type Work, workName } from "./work.ts";

/** Work that may be begun, with what the ledger knows of it. */
export type FreeWork = { readonly work: Work; readonly record: TaskRecord | undefined };

/**
 * The work that is not under way and does not rest, in its order, with what has failed behind the rest. Notes what was mined and
 * has changed nothing.
 */
export async function freeWork(context: KeeperContext, { head, work }: FoundWork): Promise<FreeWork[]> {
  const { sql, chainId, resting } = context;
  const awake = work.filter((one) => !resting.has(workName(one)));
  const records = await readTasks(sql, chainId, awake);
  const free: FreeWork[] = [];
  const failed: Failure[] = [];
  for (const [n, one] of awake.entries()) {
    const record = records[n];
    const standing = judgeTask(record, head.number);
    if (standing.kind === "free") free.push({ work: one, record });
    else if (standing.kind === "failed" && (await isInChain(context, standing)))
      failed.push({ work: one, record, reason: standing.reason });
  }
  await storeFailures(context, failed, head.timestamp);
  return behindFresh(free);
}

/** Puts work that has failed behind what has not: however much fails, the first attempt of the rest does not wait for it. */
export function behindFresh(free: readonly FreeWork[]): FreeWork[] {
  const hasFailed = ({ record }: FreeWork): boolean => record !== undefined && record.failures > 0;
  return [...free.filter((one) => !hasFailed(one)), ...free.filter(hasFailed)];
}

/** Whether the block of a failure is the chain's: in a block that a reorganisation has dropped nothing has failed. */
async function isInChain(
  { chain }: KeeperContext,
  { block }: Extract<Standing, { kind: "failed" }>,
): Promise<boolean> {
  return block === null || (await chain.block(block.number))?.hash === block.hash;
}

/** Work that has failed, by its simulation or in a block. */
export type Failure = FreeWork & { readonly reason: string };

/**
 * Notes failures: the work rests, longer each time. Work that fails again and again is set aside, which the operator is told once.
 * @param now Unix seconds.
 * @param longest the longest rest, in seconds.
 */
export async function storeFailures(
  { sql, chainId, meter, log }: KeeperContext,
  failures: readonly Failure[],
  now: bigint,
  longest = LONGEST,
): Promise<void> {
  const failed = failures.map(({ work, record, reason }): FailedWork => {
    const count = (record?.failures ?? 0) + 1;
    const left = work.deadline === null ? undefined : work.deadline - now;
    const transactionId = record?.transaction?.id ?? null;
    return { work, failure: reason, failures: count, rest: restAfter(count, left, longest), transactionId };
  });
  await noteFailures(sql, chainId, failed);
  for (const { work, failure, failures: count, rest } of failed) {
    meter.failed(work);
    const facts = { work: workName(work), reason: failure, failures: count, againInSeconds: rest };
    if (count === SET_ASIDE_AFTER)
      log.error(facts, "the keeper has set work aside: it fails again and again");
    else if (count < SET_ASIDE_AFTER) log.warn(facts, "the keeper's work has failed");
  }
}
