import {
  type Address,
  decodeEventLog,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
} from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import type { PurchaseRequest } from "./purchase.ts";

/** The calldata of a relayed purchase, for the cover router. */
export function purchaseCalldata({ productId, coverageAmount, asset, buyer }: PurchaseRequest): Hex {
  return encodeFunctionData({
    abi: coverRouterAbi,
    functionName: "purchasePolicyFor",
    args: [productId, coverageAmount, asset, buyer],
  });
}

const [POLICY_PURCHASED] = encodeEventTopics({ abi: coverRouterAbi, eventName: "PolicyPurchased" });

type Log = { address: Address; topics: readonly Hex[]; data: Hex };

/**
 * The policy that a transaction bought, from the `PolicyPurchased` of our own router; undefined when it emitted none.
 * `premiumPaid` is in USDC base units (6 decimals).
 */
export function purchasedPolicy(
  logs: readonly Log[],
  coverRouter: Address,
): { policyId: bigint; premiumPaid: bigint } | undefined {
  for (const { address, topics, data } of logs) {
    const [signature, ...rest] = topics;
    if (signature !== POLICY_PURCHASED || !isAddressEqual(address, coverRouter)) continue;
    const { args } = decodeEventLog({
      abi: coverRouterAbi,
      eventName: "PolicyPurchased",
      topics: [signature, ...rest],
      data,
    });
    return { policyId: args.policyId, premiumPaid: args.premium };
  }
  return undefined;
}
