import {
  type Address,
  decodeEventLog,
  decodeFunctionData,
  decodeFunctionResult,
  encodeEventTopics,
  encodeFunctionData,
  erc20Abi,
  getAbiItem,
  type Hex,
  isAddressEqual,
  prepareEncodeFunctionData,
} from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { MAX_PERMIT_GAS, type Permit, permitCalldata } from "../../lib/chain/permit.ts";
import type { CallRequest, Log } from "../../lib/chain/simulate-calls.ts";
import { withMargin } from "../../lib/ledger/gas-limits.ts";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";
import { withMark } from "../ledger/intent-marks.ts";

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

// The calls of a signing round's purchases.

/** The contracts of purchases and permits, lowercase. */
export type SaleContracts = { coverRouter: Address; usdc: Address; bondVault: Address };

/** The marks behind the calls of a purchase: see workers/ledger/intent-marks.ts. */
export type RoundMarks = { readonly purchase: Hex; readonly permit: Hex };

/** A purchase of a round, with its permit if that has no transaction yet. */
export type RoundPurchase = {
  request: PurchaseRequest;
  permit: Permit | undefined;
  /** The buyer's own code checks the permit. It can tell a simulation from a block: the permit goes alone, the purchase once it is mined. */
  ownerHasCode: boolean;
  marks: RoundMarks;
};

/** Extra gas of a permit whose buyer's allowance is 0 by then, because purchases before it used it up: it writes a new word. */
const EMPTY_SLOT_GAS = 17_100n;

/** The gas limit of a permit: from that of its simulation, and a fixed one where the owner's code decides what it needs. */
export const permitGasLimitOf = (
  { ownerHasCode }: Pick<RoundPurchase, "ownerHasCode">,
  simulated: bigint,
): bigint => (ownerHasCode ? MAX_PERMIT_GAS : withMargin(simulated + EMPTY_SLOT_GAS));

/** The call of a purchase, from the relayer's wallet. */
export const purchaseCall = (
  { coverRouter }: SaleContracts,
  from: Address,
  { request, marks }: Pick<RoundPurchase, "request" | "marks">,
) =>
  ({
    from,
    to: coverRouter,
    data: withMark(purchaseCalldata(request), marks.purchase),
  }) satisfies CallRequest;

/** The call of a buyer's permit for the router, from the relayer's wallet. */
export const permitCall = (
  { usdc, coverRouter }: SaleContracts,
  from: Address,
  { request: { buyer: owner }, marks }: Pick<RoundPurchase, "request" | "marks">,
  permit: Permit,
) =>
  ({
    from,
    to: usdc,
    data: withMark(permitCalldata({ owner, spender: coverRouter }, permit), marks.permit),
    // A contract wallet's code must leave the gas of a round's simulation to the purchases after it.
    gas: MAX_PERMIT_GAS,
  }) satisfies CallRequest;

const allowance = { abi: erc20Abi, functionName: "allowance" } as const;

/** The call that reads what the router may take from a buyer. */
export const allowanceCall = (
  { usdc, coverRouter }: SaleContracts,
  from: Address,
  owner: Address,
): CallRequest => ({
  from,
  to: usdc,
  data: encodeFunctionData({ ...allowance, args: [owner, coverRouter] }),
});

/** Decodes the answer of {@link allowanceCall}; 6 decimals. */
export const allowanceOf = (output: Hex): bigint => decodeFunctionResult({ ...allowance, data: output });
