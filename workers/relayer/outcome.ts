import type { Address } from "viem";
import type { Revert } from "../../lib/chain/reverts.ts";
import type { OwnTransaction } from "../ledger/open.ts";
import type { Outcome } from "../ledger/settled.ts";
import type { Receipt } from "./chain.ts";
import { minedFailure, replacedFailure } from "./failures.ts";
import { purchasedPolicy } from "./purchase-call.ts";

/**
 * What a receipt says of one of our transactions. `revert` is the reason that was found for a transaction that reverted,
 * where one was found.
 */
export function outcomeOf(
  transaction: Pick<OwnTransaction, "kind" | "cancels">,
  { hash, blockNumber, blockHash, succeeded, logs, gasCost }: Receipt,
  coverRouter: Address,
  revert: Revert | undefined,
): Outcome {
  const place = { hash, blockNumber, blockHash, gasCost };
  if (transaction.kind === "filler") return { ...place, kind: "filled" };
  if (transaction.cancels) return { ...place, kind: "replaced", ...replacedFailure(blockNumber) };
  if (!succeeded) return { ...place, kind: "reverted", ...minedFailure(blockNumber, revert) };
  if (transaction.kind === "errand") return { ...place, kind: "done" };
  const policy = purchasedPolicy(logs, coverRouter);
  if (policy) return { ...place, kind: "bought", ...policy };
  // Nothing that the protocol does: an address in the deployment file that is not its router would show like this.
  const message = `The transaction was mined in block ${blockNumber} and bought no policy`;
  return { ...place, kind: "reverted", code: "onchain_revert", message };
}
