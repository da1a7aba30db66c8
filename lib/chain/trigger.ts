/** The calls that close a policy; anybody may send them. */
import { encodeAbiParameters, encodeFunctionData, type Hex } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";

export type PolicyKey = { readonly productId: Hex; readonly policyId: bigint };

/** The proof of a fall: the ids of three rounds of the asset's feed, rising. */
export function oracleProof(rounds: readonly bigint[]): Hex {
  const [first = 0n, second = 0n, third = 0n] = rounds;
  return encodeAbiParameters([{ type: "uint80[3]" }], [[first, second, third]]);
}

/** The calldata of `CoverRouter.submitTrigger`. */
export const triggerCalldata = ({ productId, policyId }: PolicyKey, rounds: readonly bigint[]): Hex =>
  encodeFunctionData({
    abi: coverRouterAbi,
    functionName: "submitTrigger",
    args: [productId, policyId, oracleProof(rounds)],
  });

/** The calldata of `PolicyManager.markExpired`. */
export const expiryCalldata = ({ productId, policyId }: PolicyKey): Hex =>
  encodeFunctionData({ abi: policyManagerAbi, functionName: "markExpired", args: [productId, policyId] });
