/** Asks the chain whether it would have paid a trigger that nobody sent. */

import { isRefusal } from "../../../lib/chain/feed-phases.ts";
import { findRevert } from "../../../lib/chain/reverts.ts";
import { triggerCalldata } from "../../../lib/chain/trigger.ts";
import type { BlockClock } from "../from-chain/block-clock.ts";
import type { CoverChain } from "../from-chain/cover-chain.ts";
import type { CoveredPolicy, History } from "../from-chain/history.ts";
import { proofAfter } from "../from-chain/payable.ts";
import type { PayableBlocks } from "./verdict.ts";

/** What the chain says of a missed trigger. `refused`: it reverts, with this reason, so our reasoning disagrees with the chain. */
export type Confirmation =
  | { readonly is: "confirmed"; readonly block: bigint }
  | { readonly is: "refused"; readonly block: bigint; readonly reason: string }
  /** The node lacks the old state. */
  | { readonly is: "no_state" };

/**
 * Calls `submitTrigger` as a transaction of `block` would: in the state after the block before, at the time of the block. Rejects
 * when the node does not answer.
 */
export async function callTrigger(
  { clients, deployment }: Pick<CoverChain, "clients" | "deployment">,
  policy: CoveredPolicy,
  history: Pick<History, "rounds">,
  { block, time }: { block: bigint; time: bigint },
): Promise<Confirmation> {
  const rounds = proofAfter(policy, history, block - 1n);
  if (!rounds) return { is: "refused", block, reason: "there is no proof" };
  try {
    await clients.reads.call({
      to: deployment.contracts.coverRouter,
      data: triggerCalldata(policy, rounds),
      blockNumber: block - 1n,
      blockOverrides: { time },
    });
    return { is: "confirmed", block };
  } catch (error) {
    const revert = findRevert(error);
    if (revert) return { is: "refused", block, reason: revert.text };
    if (isRefusal(error)) return { is: "no_state" };
    throw error;
  }
}

/**
 * Whether the chain would have paid the policy in its first payable block, or else in its last one. Rejects when the node does not
 * answer.
 */
export async function confirm(
  chain: CoverChain,
  policy: CoveredPolicy,
  history: Pick<History, "rounds">,
  clock: Pick<BlockClock, "timeOf">,
  { first, last }: PayableBlocks,
): Promise<Confirmation> {
  const at = async (block: bigint) =>
    callTrigger(chain, policy, history, { block, time: await clock.timeOf(block) });
  const early = await at(first);
  if (early.is === "confirmed") return early;
  // A node without the older state may have the newer one.
  const late = await at(last);
  return late.is === "confirmed" || early.is === "no_state" ? late : early;
}
