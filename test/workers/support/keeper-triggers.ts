/** Tasks of the keeper, without an index. */
import { type Address, type Hex, numberToHex } from "viem";
import { type Task, triggerTask } from "../../../workers/keeper/task.ts";

export const shieldKeeper: Address = `0x${"c".repeat(40)}`;
export const coverRouter: Address = `0x${"d".repeat(40)}`;
export const keeperWallet: Address = `0x${"e".repeat(40)}`;
export const productOf = (n: number): Hex => numberToHex(n, { size: 32 });

/** The third observation of a policy, by its number. */
export function triggerOf(n: number, more: Partial<Task> = {}): Task {
  const task = triggerTask(
    { shieldKeeper, coverRouter },
    {
      ...{ productId: productOf(7), policyId: BigInt(n), shield: `0x${"a".repeat(40)}` },
      ...{
        buyer: `0x${"b".repeat(40)}`,
        expiresAt: 2_000n,
        observation: 3,
        lastMoment: 2_000n,
        changedIn: null,
      },
    },
    { way: "upkeep", wallet: keeperWallet },
  );
  if (!task) throw new Error("the policy has no task");
  return { ...task, ...more };
}
