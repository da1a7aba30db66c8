/** Tasks of the keeper, without an index. */
import { numberToHex } from "viem";
import { triggerCalldata } from "../../../lib/chain/trigger.ts";
import type { Task } from "../../../workers/keeper/task.ts";

export const multicall3 = `0x${"3".repeat(40)}` as const;

/** The trigger of a policy, by its number. */
export function triggerOf(n: number, more: Partial<Task> = {}): Task {
  const key = { productId: numberToHex(7, { size: 32 }), policyId: BigInt(n) };
  return {
    ...{ purpose: "trigger", ...key, deadline: 2_000n, receiver: `0x${"b".repeat(40)}` },
    ...{ to: `0x${"c".repeat(40)}`, data: triggerCalldata(key, [1n, 2n, 3n]) },
    ...more,
  };
}
