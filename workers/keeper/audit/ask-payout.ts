/** Asks the chain whether the third observation would have paid a policy. */
import { encodeFunctionData } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { priceOracleAbi } from "../../../abis/PriceOracle.ts";
import { isRefusal } from "../../../lib/chain/feed-phases.ts";
import { readOpenKeeper } from "../../../lib/chain/open-keeper.ts";
import { findRevert, isEmptyAnswer, type Revert } from "../../../lib/chain/reverts.ts";
import type { NeverPayableReason } from "../../../lib/keeper-audit.ts";
import { greater, smaller } from "../../common/bigints.ts";
import type { BlockClock, CoverChain } from "../from-chain/cover-chain.ts";
import type { CoveredPolicy } from "../from-chain/history.ts";
import type { PayableBlocks } from "./replay.ts";

export type Payout =
  | { readonly is: "confirmed"; readonly block: bigint }
  | { readonly is: "unpayable"; readonly block: bigint; readonly reason: NeverPayableReason }
  /** The payout reverts for a reason that we do not know. */
  | { readonly is: "refused"; readonly block: bigint; readonly reason: string }
  /** It failed in each block that was asked, and there are more. */
  | { readonly is: "undecided"; readonly block: bigint; readonly reason: string }
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

/** Blocks that are asked for one policy: ten minutes of an L2, and about a thousand calls. */
const MOST_ASKED = 300;
/** Blocks that are asked at the same time. */
const AT_ONCE = 20;

/** The blocks to ask between the first and the last one, in rising order: all of them, or `most` that are spread evenly. */
export function blocksBetween(
  { first, last, ranges }: PayableBlocks,
  most: number,
): { readonly blocks: readonly bigint[]; readonly areAll: boolean } {
  const inner = ranges.map(({ from, to }) => ({
    from: greater(from, first + 1n),
    count: smaller(to, last - 1n) - greater(from, first + 1n) + 1n,
  }));
  const held = inner.filter(({ count }) => count > 0n);
  const total = held.reduce((sum, { count }) => sum + count, 0n);
  const asked = smaller(total, BigInt(most));
  const blocks = Array.from({ length: Number(asked) }, (_, index) => {
    let place = (BigInt(index) * total) / asked;
    for (const { from, count } of held) {
      if (place < count) return from + place;
      place -= count;
    }
    throw new RangeError(`there is no block ${place}`);
  });
  return { blocks, areAll: asked === total };
}

/**
 * Whether the payout would have succeeded in a block in which the third observation could have been made. Asks the first one, the last
 * one, and then those between, up to `most`. Rejects when the node does not answer.
 */
export async function askPayout(
  chain: Chain,
  policy: CoveredPolicy,
  clock: Pick<BlockClock, "timeOf">,
  payable: PayableBlocks,
  most = MOST_ASKED,
): Promise<Payout> {
  const { first, last } = payable;
  const ask = async (block: bigint) => askIn(chain, policy, { block, time: await clock.timeOf(block) });
  const early = await ask(first);
  if (early.is === "confirmed") return early;
  // A node without the older state may have the newer one.
  const late = await ask(last);
  const ends = early.is === "no_state" ? late : early;
  if (late.is === "confirmed" || ends.is === "no_state") return late;
  const { blocks, areAll } = blocksBetween(payable, most);
  let isKnown = areAll && early.is !== "no_state" && late.is !== "no_state";
  for (let start = 0; start < blocks.length; start += AT_ONCE) {
    const answers = await Promise.all(blocks.slice(start, start + AT_ONCE).map(ask));
    const paid = answers.find(({ is }) => is === "confirmed");
    if (paid) return paid;
    isKnown &&= answers.every(({ is }) => is !== "no_state");
  }
  return isKnown || ends.is === "confirmed" ? ends : { ...ends, is: "undecided" };
}
