/** Asks the chain whether the third observation would have paid a policy. */
import { encodeFunctionData } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { priceOracleAbi } from "../../../abis/PriceOracle.ts";
import { isRefusal } from "../../../lib/chain/feed-phases.ts";
import { readOpenKeeper } from "../../../lib/chain/open-keeper.ts";
import { findRevert, isEmptyAnswer, type Revert } from "../../../lib/chain/reverts.ts";
import type { NeverPayableReason } from "../../../lib/keeper-audit.ts";
import type { BlockClock } from "../from-chain/block-clock.ts";
import type { CoverChain } from "../from-chain/cover-chain.ts";
import type { CoveredPolicy } from "../from-chain/history.ts";
import type { PayableBlocks } from "./replay.ts";

export type Payout =
  | { readonly is: "confirmed"; readonly block: bigint }
  | { readonly is: "unpayable"; readonly block: bigint; readonly reason: NeverPayableReason }
  /** The payout reverts for a reason that we do not know. */
  | { readonly is: "refused"; readonly block: bigint; readonly reason: string }
  /** The node lacks the old state. */
  | { readonly is: "no_state" };

type Chain = Pick<CoverChain, "clients" | "deployment">;

/** Whether anybody could settle the policy by the keeper contract in the state after a block. */
async function isWayOpen(
  { clients: { reads }, deployment }: Chain,
  policy: CoveredPolicy,
  blockNumber: bigint,
): Promise<boolean> {
  try {
    return (await readOpenKeeper(reads, deployment.contracts, policy, blockNumber)) !== undefined;
  } catch (error) {
    if (isEmptyAnswer(error)) return false;
    throw error;
  }
}

async function reasonOf(
  { clients: { reads }, deployment }: Chain,
  { buyer }: CoveredPolicy,
  { name }: Revert,
  blockNumber: bigint,
): Promise<NeverPayableReason | undefined> {
  if (name === "Exceeds capacity") return "capacity";
  const at = { blockNumber } as const;
  const vault = { ...at, address: deployment.contracts.bondVault, abi: bondVaultAbi } as const;
  const oracle = await reads.readContract({ ...vault, functionName: "priceOracle" });
  const price = { ...at, address: oracle, abi: priceOracleAbi, functionName: "getLuminaPrice" } as const;
  const fails = await reads.readContract(price).then(
    () => false,
    (error: unknown) => {
      if (findRevert(error) || isEmptyAnswer(error)) return true;
      throw error;
    },
  );
  if (fails) return "price_oracle";
  return (await reads.getCode({ ...at, address: buyer })) ? "receiver" : undefined;
}

/** Pays the policy in a call as its adapter does, in the state after the block before `block`, at the time of the block. */
async function askIn(
  chain: Chain,
  policy: CoveredPolicy,
  { block, time }: { block: bigint; time: bigint },
): Promise<Payout> {
  const blockNumber = block - 1n;
  const { productId, policyId, adapter } = policy;
  try {
    if (!(await isWayOpen(chain, policy, blockNumber))) return { is: "unpayable", block, reason: "no_way" };
    const args = [productId, policyId, true] as const;
    const data = encodeFunctionData({ abi: policyManagerAbi, functionName: "settlePolicy", args });
    const to = chain.deployment.contracts.policyManager;
    await chain.clients.reads.call({ account: adapter, to, data, blockNumber, blockOverrides: { time } });
    return { is: "confirmed", block };
  } catch (error) {
    const revert = findRevert(error);
    if (revert) {
      const reason = await reasonOf(chain, policy, revert, blockNumber);
      return reason ? { is: "unpayable", block, reason } : { is: "refused", block, reason: revert.text };
    }
    if (isRefusal(error)) return { is: "no_state" };
    throw error;
  }
}

/**
 * Whether the payout would have succeeded in the first block of the third observation, or else in the last one. Rejects when the node
 * does not answer.
 */
export async function askPayout(
  chain: Chain,
  policy: CoveredPolicy,
  clock: Pick<BlockClock, "timeOf">,
  { first, last }: PayableBlocks,
): Promise<Payout> {
  const ask = async (block: bigint) => askIn(chain, policy, { block, time: await clock.timeOf(block) });
  const early = await ask(first);
  if (early.is === "confirmed") return early;
  // A node without the older state may have the newer one.
  const late = await ask(last);
  return late.is === "confirmed" || early.is === "no_state" ? late : early;
}
