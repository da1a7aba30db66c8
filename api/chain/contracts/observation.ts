/** Reads from the contracts whether a policy can be observed now. */
import type { Address } from "viem";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { priceFeedAbi } from "../../../abis/PriceFeed.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import { findRevert, isOutOfGas } from "../../../lib/chain/reverts.ts";
import { settleCalldata, upkeepGas } from "../../../lib/chain/trigger.ts";
import { type AssetPrice, assetPrice } from "./prices.ts";

/** The gas that the keeper contract leaves to the evaluation in a prepared call. */
const SETTLE_GAS = upkeepGas(1) - 50_000n;

/** Observations of a policy so far, and the time of the last one, Unix seconds; 0 without one. */
export type Observed = { readonly count: number; readonly lastAt: bigint };

/** The feed of a policy's shield with its newest price, null for one that no shield takes, and what was observed. */
export type ObservedPrice = {
  readonly feed: Address;
  readonly price: AssetPrice | null;
  readonly observed: Observed;
};

/** Reads it at a block; `adapter` is the policy's `shield`. Rejects when the node does not answer. */
export async function readObservedPrice(
  chain: ReadClient,
  { adapter, policyId }: { adapter: Address; policyId: bigint },
  blockNumber: bigint,
): Promise<ObservedPrice> {
  const shield = await chain.readContract({
    address: adapter,
    abi: shieldAdapterAbi,
    functionName: "shield",
    blockNumber,
  });
  const views = { address: shield, abi: flashShieldAbi, blockNumber } as const;
  const [feed, [count, lastAt]] = await Promise.all([
    chain.readContract({ ...views, functionName: "priceFeed" }),
    chain.readContract({ ...views, functionName: "getConfirmation", args: [policyId] }),
  ]);
  const [, answer, , updatedAt] = await chain.readContract({
    address: feed,
    abi: priceFeedAbi,
    functionName: "latestRoundData",
    blockNumber,
  });
  return { feed, price: assetPrice(answer, updatedAt), observed: { count, lastAt } };
}

/** Why the keeper contract's evaluation of a policy would fail after a block; undefined where it would not. Rejects when the node does not answer. */
export async function refusalOf(
  chain: ReadClient,
  { adapter, keeper, policyId }: { adapter: Address; keeper: Address; policyId: bigint },
  blockNumber: bigint,
): Promise<string | undefined> {
  try {
    const call = { account: keeper, to: adapter, data: settleCalldata(policyId), gas: SETTLE_GAS };
    await chain.call({ ...call, blockNumber });
    return undefined;
  } catch (error) {
    const revert = findRevert(error);
    if (revert) return revert.text;
    if (isOutOfGas(error)) return "out of gas";
    throw error;
  }
}
