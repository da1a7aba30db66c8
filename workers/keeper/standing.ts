/** Decides whether work may be begun, from what the ledger knows of it. Pure. */
import type { Hex } from "viem";
import type { TaskRecord } from "./tasks.ts";

export type Standing =
  | { readonly kind: "free" }
  /** Its transaction is under way, or its rest after a failure is not over. */
  | { readonly kind: "busy" }
  /** The work is still there although its transaction was mined in `block`, or refused (null). */
  | {
      readonly kind: "failed";
      readonly reason: string;
      readonly block: { readonly number: bigint; readonly hash: Hex } | null;
    };

/** @param head the block of the index in which the work was found: a transaction above it may have done it. */
export function judgeTask(record: TaskRecord | undefined, head: bigint): Standing {
  if (!record) return { kind: "free" };
  const { transaction, resting } = record;
  if (!transaction) return { kind: resting ? "busy" : "free" };
  const { state, shared, abandoned, block, failureCode, failure } = transaction;
  if (abandoned) return { kind: resting ? "busy" : "free" };
  switch (state) {
    case "accepted":
    case "signed":
    case "broadcast":
      return { kind: "busy" };
    case "mined":
    case "confirmed":
      if (block === null || block.number > head) return { kind: "busy" };
      return { kind: "failed", reason: `its call failed in block ${block.number}`, block };
    case "failed": {
      if (block !== null && block.number > head) return { kind: "busy" };
      const reason = failure ?? "it failed without a reason";
      // Refused before it was signed, because the wallet could not sign, or because a call beside it would fail by now, above all
      // one that a stranger has made: the work itself has not failed.
      if (block === null && (shared || failureCode !== "onchain_revert"))
        return { kind: resting ? "busy" : "free" };
      return { kind: "failed", reason, block };
    }
    case "replaced":
      return { kind: "free" };
  }
}
