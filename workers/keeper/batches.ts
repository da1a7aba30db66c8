/** Puts the keeper's calls into transactions. Pure. */
import { type Address, decodeFunctionData, encodeFunctionData, type Hex, multicall3Abi } from "viem";
import { lower } from "../../lib/lower.ts";
import type { KeeperPurpose, Task } from "./task.ts";

/** The most gas of one call: a buyer's contract may spend it when it receives its bonds, at the keeper's cost. */
export const MAX_CALL_GAS = 2_000_000n;
/**
 * The gas of the calls of a batch by their simulation. With the margin of a signed call it stays below the 16,777,216 that
 * EIP-7825 allows a transaction.
 */
const BATCH_GAS = 10_000_000n;
/** The most gas that the simulation of a batch may take. */
export const MAX_BATCH_GAS = 13_000_000n;

/** A task whose simulation succeeded; `alone`: its call shares no transaction, because it could use up the others' gas. */
export type Ready = { readonly task: Task; readonly gas: bigint; readonly alone: boolean };

/** Tasks of one purpose that are done in one transaction, and its call. */
export type Batch = {
  readonly purpose: KeeperPurpose;
  readonly tasks: readonly Task[];
  /** By simulation. */
  readonly gas: bigint;
  readonly to: Address;
  readonly data: Hex;
};

const single = (task: Task, gas: bigint): Batch => ({
  ...{ purpose: task.purpose, tasks: [task], gas, to: task.to, data: task.data },
});

type Group = { first: Task; others: Task[]; gas: bigint };

function batchOf({ first, others, gas }: Group, multicall3: Address): Batch {
  if (others.length === 0) return single(first, gas);
  const tasks = [first, ...others];
  const calls = tasks.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }));
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] });
  return { purpose: first.purpose, tasks, gas, to: lower(multicall3), data };
}

/**
 * Groups tasks of one purpose, in their order, as far as the gas of a batch reaches; without Multicall3 one by one.
 * @param payable the gas that can be paid for: a batch that needs more would wait in vain, where a part of it could be done.
 */
export function batchesOf(
  ready: readonly Ready[],
  multicall3: Address | undefined,
  payable: bigint = BATCH_GAS,
): Batch[] {
  if (multicall3 === undefined) return ready.map(({ task, gas }) => single(task, gas));
  const limit = payable < BATCH_GAS ? payable : BATCH_GAS;
  const groups: Group[] = [];
  let open: Group | undefined;
  for (const { task, gas, alone } of ready) {
    if (!alone && open && open.gas + gas <= limit) {
      open.others.push(task);
      open.gas += gas;
      continue;
    }
    const group = { first: task, others: [], gas };
    groups.push(group);
    if (!alone) open = group;
  }
  return groups.map((group) => batchOf(group, multicall3));
}

type PlainCall = { readonly to: Address; readonly data: Hex };

/**
 * The call with which a batch is simulated: one that fails as soon as one of its calls does. The gas that it needs is enough for
 * all of them, while a batch that may leave calls out succeeds with too little.
 */
export function strictCall({ to, data }: PlainCall, multicall3: Address | undefined): PlainCall {
  if (multicall3 === undefined || to !== lower(multicall3)) return { to, data };
  const decoded = decodeFunctionData({ abi: multicall3Abi, data });
  if (decoded.functionName !== "aggregate3") return { to, data };
  const calls = decoded.args[0].map((call) => ({ ...call, allowFailure: false }));
  return { to, data: encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] }) };
}
