/** The calls that observe, pay and close policies; anybody may send them. */
import {
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  toFunctionSelector,
} from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";

export type PolicyKey = { readonly productId: Hex; readonly policyId: bigint };

const performData = [{ type: "bytes32" }, { type: "uint256[]" }] as const;

const PERFORM_UPKEEP = toFunctionSelector(getAbiItem({ abi: shieldKeeperAbi, name: "performUpkeep" }));

/** Policies that one `performUpkeep` evaluates at most: `MAX_POLICIES_PER_UPKEEP`. */
export const UPKEEP_POLICIES = 10;

/** The calldata of `ShieldKeeper.performUpkeep`: evaluates these policies of one product, which observes, resets, pays or expires each. */
export const upkeepCalldata = (productId: Hex, policyIds: readonly bigint[]): Hex =>
  encodeFunctionData({
    abi: shieldKeeperAbi,
    functionName: "performUpkeep",
    args: [encodeAbiParameters(performData, [productId, policyIds])],
  });

/** The policies that a `performUpkeep` evaluates; undefined for another call. */
export function policiesOfUpkeep(data: Hex): { productId: Hex; policyIds: readonly bigint[] } | undefined {
  if (!data.startsWith(PERFORM_UPKEEP)) return undefined;
  const call = decodeFunctionData({ abi: shieldKeeperAbi, data });
  if (call.functionName !== "performUpkeep") return undefined;
  const [productId, policyIds] = decodeAbiParameters(performData, call.args[0]);
  return { productId, policyIds };
}

/**
 * The gas limit of a `performUpkeep` of so many policies. `eth_estimateGas` finds too little: a call that runs out of gas inside fails
 * for its policy alone. Each may be a payout, which takes 303,000, the first of a month 115,000 more, ten 1,252,000. One alone leaves
 * some 80,000 to the receiver's own code, where it is a contract: a Safe takes 10,000.
 */
export const upkeepGas = (policies: number): bigint => 350_000n + 150_000n * BigInt(policies);

/** The calldata of `ShieldAdapter.checkAndSettlePolicy`, which the keeper contract makes for each policy, and which says why it fails. */
export const settleCalldata = (policyId: bigint): Hex =>
  encodeFunctionData({ abi: shieldAdapterAbi, functionName: "checkAndSettlePolicy", args: [policyId] });

/** The calldata of `CoverRouter.submitTrigger`, by which a relayer of the router makes a third observation; it reads no proof. */
export const submitCalldata = ({ productId, policyId }: PolicyKey): Hex =>
  encodeFunctionData({
    abi: coverRouterAbi,
    functionName: "submitTrigger",
    args: [productId, policyId, "0x"],
  });

/** The calldata of `PolicyManager.markExpired`. */
export const expiryCalldata = ({ productId, policyId }: PolicyKey): Hex =>
  encodeFunctionData({ abi: policyManagerAbi, functionName: "markExpired", args: [productId, policyId] });
