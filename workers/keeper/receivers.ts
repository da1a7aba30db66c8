/**
 * Whose code a payout runs, on the keeper's gas. The code of a buyer that is a contract runs when it receives the bonds, can tell a
 * simulation from a block, and decides there what the call costs, and whether it pays.
 */
import { getAbiItem, type Hash, type Hex } from "viem";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import type { KeeperContext } from "./context.ts";
import type { Task } from "./task.ts";
import { countReceiverFailures, noteReceiverFailures } from "./task-records.ts";

/** In so many blocks of a day payouts of a receiver fail by its code: then they are left to its owner, who can send the call. */
const LEFT_AFTER = 2;

const settlementFailed = getAbiItem({ abi: shieldKeeperAbi, name: "SettlementFailed" });

type ByReceiver<One> = {
  /** Run no code but the protocol's. */
  readonly plain: readonly One[];
  /** Run their receivers' code. */
  readonly withCode: readonly One[];
};

/**
 * Parts tasks by whether they run their receiver's code, in their order, up to `most` that do not. Leaves out those that are left to
 * their receivers' owners. Rejects when node or database are down.
 */
export async function byReceiver<One extends { readonly task: Task }>(
  context: KeeperContext,
  tasks: readonly One[],
  most: number,
): Promise<ByReceiver<One>> {
  const { sql, chainId } = context;
  const receivers = new Set(tasks.flatMap(({ task }) => task.receiver ?? []));
  const failures = await countReceiverFailures(sql, chainId, [...receivers]);
  const plain: One[] = [];
  const withCode: One[] = [];
  for (let first = 0; first < tasks.length && plain.length < most; first += most) {
    const some = tasks.slice(first, first + most);
    const areForeign = await Promise.all(
      some.map(
        async ({ task: { receiver } }) =>
          receiver !== null && (failures.has(receiver) || (await hasCode(context, receiver))),
      ),
    );
    for (const [n, one] of some.entries()) {
      const count = one.task.receiver === null ? 0 : (failures.get(one.task.receiver) ?? 0);
      if (count < LEFT_AFTER) (areForeign[n] ? withCode : plain).push(one);
    }
  }
  return { plain: plain.slice(0, most), withCode };
}

/** An account without code is asked each time, because it can get some; requests of one tick share an HTTP request. */
async function hasCode({ chain, withCode }: KeeperContext, receiver: Hex): Promise<boolean> {
  if (withCode.has(receiver)) return true;
  const has = await chain.hasCode(receiver);
  if (has) withCode.set(receiver, true);
  return has;
}

/** A payout that was mined and has paid nothing, in a block of the chain. */
export type FailedPayout = {
  readonly task: Task;
  readonly transactionId: string;
  readonly block: { readonly number: bigint; readonly hash: Hash };
};

/**
 * Notes payouts that failed by their receivers' code: those to a contract, and those that used up all gas, as no other receiver's does.
 * @returns the tasks that are left to their receivers' owners from now on.
 */
export async function noteFailedPayouts(
  context: KeeperContext,
  payouts: readonly FailedPayout[],
): Promise<ReadonlySet<Task>> {
  const { sql, chainId } = context;
  const found = await Promise.all(
    payouts.map(async ({ task, transactionId, block }) => {
      const { receiver } = task;
      if (receiver === null) return [];
      const isItsCode = (await hasCode(context, receiver)) || (await usedAllGas(context, task, block));
      return isItsCode ? [{ task, transactionId, receiver, block }] : [];
    }),
  );
  const failed = found.flat();
  await noteReceiverFailures(sql, chainId, failed);
  const counts = await countReceiverFailures(
    sql,
    chainId,
    failed.map(({ receiver }) => receiver),
  );
  const left = failed.filter(({ receiver }) => (counts.get(receiver) ?? 0) >= LEFT_AFTER);
  return new Set(left.map(({ task }) => task));
}

/** Whether the policy's settlement ran out of gas: the keeper contract then reports no reason. */
async function usedAllGas(
  { chain }: KeeperContext,
  { to, productId, policyId }: Task,
  { hash: blockHash }: FailedPayout["block"],
): Promise<boolean> {
  const args = { productId: productId ?? "0x", policyId };
  const logs = await chain.client.getLogs({
    ...{ address: to, event: settlementFailed, args, blockHash, strict: true },
  });
  return logs.some(({ args: { reason } }) => reason === "0x");
}
