import type { Address } from "viem";
import type { Revert } from "../../lib/chain/reverts.ts";
import type { OwnTransaction } from "../ledger/open-transactions.ts";
import type { Outcome } from "../ledger/outcomes.ts";
import type { Receipt } from "./chain.ts";
import { purchasedPolicy } from "./purchase-call.ts";
import { minedFailure, replacedFailure } from "./purchase-failures.ts";

/**
 * The outcome of one of our transactions, from its receipt. `revert` is the reason of a transaction that reverted,
 * where it is known.
 */
export function outcomeOf(
  transaction: Pick<OwnTransaction, "kind" | "cancels">,
  { hash, blockNumber, blockHash, succeeded, logs, gasCost }: Receipt,
  coverRouter: Address,
  revert: Revert | undefined,
): Outcome {
  const mined = { hash, blockNumber, blockHash, gasCost };
  if (transaction.kind === "filler") return { ...mined, kind: "done" };
  if (transaction.cancels) return { ...mined, kind: "replaced", ...replacedFailure(blockNumber) };
  if (!succeeded) return { ...mined, kind: "reverted", ...minedFailure(blockNumber, revert) };
  if (transaction.kind !== "purchase") return { ...mined, kind: "done" };
  const policy = purchasedPolicy(logs, coverRouter);
  if (policy) return { ...mined, kind: "bought", policyId: policy.policyId, premiumPaid: policy.premiumPaid };
  // The protocol does not do this; a deployment file with a wrong address for the router would.
  const message = `The transaction was mined in block ${blockNumber} and bought no policy`;
  return { ...mined, kind: "reverted", code: "onchain_revert", message, failedBy: "protocol" };
}
