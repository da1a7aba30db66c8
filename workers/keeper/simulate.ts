import pLimit from "p-limit";
import { type Address, decodeEventLog, encodeEventTopics, stringToHex } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import type { ReadClient } from "../../lib/chain/client.ts";
import { findRevert, isOutOfGas, type Revert } from "../../lib/chain/reverts.ts";
import type { CallRequest, Log, SimulatedCall } from "../../lib/chain/simulate-calls.ts";
import { errorText } from "../../lib/log.ts";
import { UNIT } from "../../lib/vault-units.ts";
import { MAX_CALL_GAS, MAX_SETTLE_GAS, type Ready } from "./batches.ts";
import type { KeeperContext } from "./context.ts";
import type { DueTasks } from "./due-tasks.ts";
import {
  type FailedAttempt,
  hasFailed,
  LONGEST_UNSENT,
  type StartableTask,
  storeFailures,
} from "./startable-tasks.ts";
import { type Task, taskName } from "./task.ts";

/**
 * What a call would do now. `done`: somebody else has done it. `idle`: it would change nothing yet. `unknown`: the node does not know
 * the block yet in which it is due, or cannot judge the call.
 */
export type Simulated =
  | { readonly kind: "works"; readonly gas: bigint }
  | { readonly kind: "done" }
  | { readonly kind: "idle" }
  | { readonly kind: "unknown" }
  | { readonly kind: "reverts"; readonly reason: string };

/** Calls in one request: a node runs a sequence within the gas of a block. */
const SEQUENCE = 40;
/** After a node has refused a sequence it is asked for one again when this time has passed, in ms. */
const SEQUENCE_RETRY_MS = 60_000;
/** Estimates at a time, when calls are simulated one by one. */
const ESTIMATES = 8;

const [SETTLED] = encodeEventTopics({ abi: shieldAdapterAbi, eventName: "PolicySettled" });
const RESET = stringToHex("RESET", { size: 32 });

/** The policy is closed. */
const DONE: readonly string[] = ["ALREADY_FINALIZED", "Already triggered", "Already expired"];
/** Somebody else has observed the round or the policy a moment ago. */
const OBSERVED_LATER = "NOT_SETTLEABLE_YET";
/** An expiry waits until the policy's feed and the sequencer can be read again: nothing is wrong with the policy. */
const EXPIRES_LATER: readonly string[] = [
  "OracleUnavailableRetry",
  "ORACLE_INVALID",
  "ORACLE_INCOMPLETE_ROUND",
  "ORACLE_ROUND_NOT_COMPLETE",
  "ORACLE_FUTURE_TS",
];

export function ofRevert({ purpose }: Pick<Task, "purpose">, { name, text }: Revert): Simulated {
  if (DONE.includes(name)) return { kind: "done" };
  if (name === OBSERVED_LATER || (purpose === "expire" && EXPIRES_LATER.includes(name)))
    return { kind: "idle" };
  return { kind: "reverts", reason: text };
}

/**
 * Simulates tasks and returns those that succeed, in their order. One that somebody else has done is left alone until the index shows
 * it; one that reverts has failed. `runCode`: they run their receivers' code.
 */
export async function succeedingTasks(
  context: KeeperContext,
  from: Address,
  startable: readonly StartableTask[],
  { number, timestamp }: DueTasks["head"],
  { runCode }: { readonly runCode: boolean },
): Promise<Ready[]> {
  const simulated = await simulateTasks(
    context,
    from,
    startable.map(({ task }) => task),
    number,
  );
  const newest = await newestAfter(context, simulated, number);
  const ready: Ready[] = [];
  const failures: FailedAttempt[] = [];
  for (const [n, one] of startable.entries()) {
    const result = simulated[n];
    switch (result?.kind) {
      case "works":
        context.reverted.delete(taskName(one.task));
        ready.push({
          ...{ task: one.task, gas: result.gas, alone: runCode || hasFailed(one) },
          runsCodeOf: runCode ? one.task.receiver : null,
        });
        break;
      case "reverts":
        if (hasReverted(context, one.task, { head: number, newest }))
          failures.push({ ...one, reason: result.reason });
        break;
      case "done":
        context.meter.doneByOthers(one.task);
        context.leftAlone.set(taskName(one.task), true);
        break;
      case "idle":
        context.leftAlone.set(taskName(one.task), true);
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
 * Whether a revert counts as a failure. One in a block that the index does not have yet proves nothing: in that block the task may
 * not be due any more. It counts if the task is still due once the index has that block, and reverts again.
 */
function hasReverted(
  { reverted }: Pick<KeeperContext, "reverted">,
  task: Task,
  { head, newest }: { head: bigint; newest: bigint },
): boolean {
  const name = taskName(task);
  const first = reverted.get(name);
  if (newest <= head || (first !== undefined && first <= head)) {
    reverted.delete(name);
    return true;
  }
  if (first === undefined) reverted.set(name, newest);
  return false;
}

/**
 * Simulates tasks in the newest state, each call by itself. Rejects when the node does not answer.
 * @param due the block in which they were due.
 */
async function simulateTasks(
  context: KeeperContext,
  from: Address,
  tasks: readonly Task[],
  due: bigint,
): Promise<Simulated[]> {
  const simulated: Simulated[] = [];
  for (let first = 0; first < tasks.length; first += SEQUENCE) {
    simulated.push(...(await simulateSequence(context, from, tasks.slice(first, first + SEQUENCE), due)));
  }
  return simulated;
}

async function simulateSequence(
  context: KeeperContext,
  from: Address,
  tasks: readonly Task[],
  due: bigint,
): Promise<Simulated[]> {
  const { block, calls } = await runSequence(context, from, tasks);
  if (block < due) return tasks.map(() => ({ kind: "unknown" }));
  const limited = pLimit(ESTIMATES);
  const results = await Promise.allSettled(
    tasks.map((one, n) => resultOf(calls[n], one) ?? limited(() => estimate(context, from, one))),
  );
  return judgedResults(results);
}

/**
 * What is known of calls that were simulated one by one: one that the node cannot judge holds up none of the others. Throws when it
 * judges none of them, because then it does not answer.
 */
export function judgedResults(results: readonly PromiseSettledResult<Simulated>[]): Simulated[] {
  const [first] = results;
  if (first?.status === "rejected" && results.every(({ status }) => status === "rejected"))
    throw first.reason;
  return results.map((result) => (result.status === "fulfilled" ? result.value : { kind: "unknown" }));
}

/** Runs the calls in one request, after `block`, the node's newest; empty where the node refuses that, now or lately. */
async function runSequence(
  context: KeeperContext,
  from: Address,
  tasks: readonly Task[],
): Promise<{ block: bigint; calls: readonly SimulatedCall[] }> {
  const { chain, log } = context;
  const head = await chain.block("latest");
  if (!head) throw new Error("the node has no latest block");
  const oneByOne = { block: head.number, calls: [] };
  if (performance.now() < context.sequenceFrom) return oneByOne;
  try {
    return await chain.simulate(
      tasks.map((one) => callOf(from, one)),
      head,
    );
  } catch (error) {
    context.sequenceFrom = performance.now() + SEQUENCE_RETRY_MS;
    log.warn({ err: errorText(error) }, "eth_simulateV1 failed: the keeper's calls are simulated one by one");
    return oneByOne;
  }
}

const mostGas = ({ purpose }: Task): bigint => (purpose === "trigger" ? MAX_SETTLE_GAS : MAX_CALL_GAS);

const callOf = (from: Address, task: Task): CallRequest => ({
  from,
  ...task.simulated,
  gas: mostGas(task),
});

/** Undefined where the call failed without a reason: the sequence's gas may have ended. */
function resultOf(call: SimulatedCall | undefined, task: Task): Simulated | undefined {
  if (!call) return undefined;
  if (!call.succeeded) return call.revert && ofRevert(task, call.revert);
  const isIdle = task.purpose === "queue" ? paidNothing(call.logs) : resetsOnly(call.logs);
  return isIdle ? { kind: "idle" } : { kind: "works", gas: call.gas };
}

/** Whether a simulated call resets the observations: the price has risen since the policy was due. */
const resetsOnly = (logs: readonly Log[]): boolean =>
  logs.some(({ topics: [topic, ...topics], data }) => {
    if (topic !== SETTLED) return false;
    const event = decodeEventLog({
      abi: shieldAdapterAbi,
      eventName: "PolicySettled",
      topics: [topic, ...topics],
      data,
    });
    return event.args.reason === RESET;
  });

async function estimate({ chain }: KeeperContext, from: Address, task: Task): Promise<Simulated> {
  const call = callOf(from, task);
  try {
    // For an estimate the node would run a dozen times what has a fixed limit anyway.
    if (task.purpose === "trigger") {
      await chain.call({ ...call, gas: mostGas(task) }, "latest");
      return { kind: "works", gas: mostGas(task) };
    }
    const gas = await chain.estimateGas(call, mostGas(task));
    if (task.purpose !== "queue") return { kind: "works", gas };
    return (await paysNothing(chain.client, task.to)) ? { kind: "idle" } : { kind: "works", gas };
  } catch (error) {
    const revert = findRevert(error);
    if (revert) return ofRevert(task, revert);
    if (isOutOfGas(error)) return { kind: "reverts", reason: `it needs more than ${mostGas(task)} gas` };
    throw error;
  }
}

const [PROCESSED] = encodeEventTopics({ abi: bondVaultAbi, eventName: "QueueProcessed" });

/** Whether a simulated call pays nothing, by its logs. */
export const paidNothing = (logs: readonly Log[]): boolean =>
  logs.some(({ topics: [topic, ...topics], data }) => {
    if (topic !== PROCESSED) return false;
    const event = decodeEventLog({
      abi: bondVaultAbi,
      eventName: "QueueProcessed",
      topics: [topic, ...topics],
      data,
    });
    return event.args.count === 0n;
  });

/** Whether a call would pay nothing now, by the vault's views, where the node tells no logs of calls. */
export async function paysNothing(
  chain: Pick<ReadClient, "readContract">,
  bondVault: Address,
): Promise<boolean> {
  const vault = { address: bondVault, abi: bondVaultAbi } as const;
  const week = await chain.readContract({ ...vault, functionName: "currentEpoch" });
  const [first, length, most, cap, redeemed] = await Promise.all([
    chain.readContract({ ...vault, functionName: "queueProcessedIndex", args: [week] }),
    chain.readContract({ ...vault, functionName: "queueLength", args: [week] }),
    chain.readContract({ ...vault, functionName: "MAX_PROCESS_PER_CALL" }),
    chain.readContract({ ...vault, functionName: "maxRedeemThisEpoch" }),
    chain.readContract({ ...vault, functionName: "redeemedInEpoch", args: [week] }),
  ]);
  const entries = await Promise.all(
    Array.from({ length: Math.min(Number(length - first), Number(most)) }, (_, place) =>
      chain.readContract({
        ...vault,
        functionName: "queueByEpoch",
        args: [week, first + BigInt(place)],
      }),
    ),
  );
  // A paid entry's amount is 0.
  return entries.every(([, , dollars]) => dollars === 0n || redeemed + dollars * UNIT > cap * UNIT);
}
