import {
  type Address,
  decodeEventLog,
  decodeFunctionData,
  encodeEventTopics,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  isAddressEqual,
  prepareEncodeFunctionData,
} from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import type { Log } from "../../lib/chain/simulate-calls.ts";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";

/** Prepared once: viem would hash the function's signature for each call, and all events' signatures for each log. */
const purchase = prepareEncodeFunctionData({ abi: coverRouterAbi, functionName: "purchasePolicyFor" });
const purchased = [getAbiItem({ abi: coverRouterAbi, name: "PolicyPurchased" })] as const;
const [POLICY_PURCHASED] = encodeEventTopics({ abi: purchased });

/** The calldata of a relayed purchase, for the cover router. */
export function purchaseCalldata({ productId, coverageAmount, asset, buyer }: PurchaseRequest): Hex {
  return encodeFunctionData({ ...purchase, args: [productId, coverageAmount, asset, buyer] });
}

/** The purchase that a call of the cover router makes, whatever stands behind it; undefined when it makes none. */
export function purchaseOfCalldata(data: Hex): PurchaseRequest | undefined {
  try {
    const { args } = decodeFunctionData({
      abi: [getAbiItem({ abi: coverRouterAbi, name: "purchasePolicyFor" })],
      data,
    });
    const [productId, coverageAmount, asset, buyer] = args;
    const request = { productId, coverageAmount, asset, buyer };
    // The same bytes: the decoder overlooks some differences.
    return data.startsWith(purchaseCalldata(request)) ? request : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The policy that a transaction bought, from the `PolicyPurchased` of our own router; undefined when it emitted none.
 * `premiumPaid` and `payout` are in USDC base units (6 decimals).
 */
export function purchasedPolicy(
  logs: readonly Log[],
  coverRouter: Address,
): { policyId: bigint; premiumPaid: bigint; payout: bigint } | undefined {
  for (const { address, topics, data } of logs) {
    const [signature, ...rest] = topics;
    if (signature !== POLICY_PURCHASED || !isAddressEqual(address, coverRouter)) continue;
    const { args } = decodeEventLog({ abi: purchased, topics: [signature, ...rest], data });
    return { policyId: args.policyId, premiumPaid: args.premium, payout: args.payout };
  }
  return undefined;
}
