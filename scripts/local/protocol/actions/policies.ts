/** Buys, triggers and closes policies. */
import {
  type Address,
  encodeFunctionData,
  type LocalAccount,
  maxUint256,
  type TransactionReceipt,
} from "viem";
import { bondVaultAbi } from "../../../../abis/BondVault.ts";
import { coverRouterAbi } from "../../../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../../../abis/FlashShield.ts";
import { mockUsdcAbi } from "../../../../abis/MockUSDC.ts";
import { policyManagerAbi } from "../../../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../../../abis/ShieldAdapter.ts";
import type { ProductTerms } from "../terms.ts";
import { onlyEvent, type Protocol, send } from "./protocol.ts";

/** Mints mock USDC (6 decimals) to `to`. Any account may. */
export const mintUsdc = (protocol: Protocol, account: LocalAccount, to: Address, amount: bigint) =>
  send(
    protocol,
    account,
    protocol.deployment.contracts.usdc,
    encodeFunctionData({ abi: mockUsdcAbi, functionName: "mint", args: [to, amount] }),
  );

/** Gives `spender` a USDC allowance, without limit when `amount` is left out. */
export const approveUsdc = (
  protocol: Protocol,
  account: LocalAccount,
  spender: Address,
  amount = maxUint256,
) =>
  send(
    protocol,
    account,
    protocol.deployment.contracts.usdc,
    encodeFunctionData({ abi: mockUsdcAbi, functionName: "approve", args: [spender, amount] }),
  );

/** The product of a purchase. */
export type ProductRef = Pick<ProductTerms, "productId" | "asset">;
export type Purchased = { policyId: bigint; premium: bigint; payout: bigint; receipt: TransactionReceipt };

export function purchased(receipt: TransactionReceipt): Purchased {
  const { policyId, premium, payout } = onlyEvent(receipt, coverRouterAbi, "PolicyPurchased").args;
  return { policyId, premium, payout, receipt };
}

/** The account buys a policy for itself; coverage in USDC, 6 decimals. */
export async function purchase(
  protocol: Protocol,
  account: LocalAccount,
  product: ProductRef,
  coverage: bigint,
): Promise<Purchased> {
  const data = encodeFunctionData({
    abi: coverRouterAbi,
    functionName: "purchasePolicy",
    args: [product.productId, coverage, product.asset],
  });
  return purchased(await send(protocol, account, protocol.deployment.contracts.coverRouter, data));
}

/** A relayer or the owner makes the third observation by the router. @returns the issued bond. */
export async function submitTrigger(
  protocol: Protocol,
  account: LocalAccount,
  product: ProductRef,
  policyId: bigint,
) {
  const receipt = await send(
    protocol,
    account,
    protocol.deployment.contracts.coverRouter,
    encodeFunctionData({
      abi: coverRouterAbi,
      functionName: "submitTrigger",
      args: [product.productId, policyId, "0x"],
    }),
  );
  const { epochId, usdAmount, to } = onlyEvent(receipt, bondVaultAbi, "BondIssued").args;
  return { epochId, usdAmount, holder: to, receipt };
}

/** What the shield of a policy's adapter knows of it: the strike (8 decimals), start, end, and its observations. */
export async function coverOf(
  { client, deployment }: Protocol,
  { productId }: Pick<ProductRef, "productId">,
  policyId: bigint,
) {
  const { shield: adapter } = await client.readContract({
    abi: policyManagerAbi,
    address: deployment.contracts.policyManager,
    functionName: "getPolicy",
    args: [productId, policyId],
  });
  const address = await client.readContract({
    abi: shieldAdapterAbi,
    address: adapter,
    functionName: "shield",
  });
  const read = { abi: flashShieldAbi, address, args: [policyId] } as const;
  const [, , strike, start, expiresAt, finalized] = await client.readContract({
    ...read,
    functionName: "getPolicyInfo",
  });
  const [count] = await client.readContract({ ...read, functionName: "getConfirmation" });
  return { adapter, shield: address, strike, start, expiresAt, finalized, count };
}

/** The price (8 decimals, rounded down) at or below which a policy is triggered. */
export async function triggerPrice(
  protocol: Protocol,
  product: ProductRef & Pick<ProductTerms, "triggerDropBps">,
  policyId: bigint,
): Promise<bigint> {
  const { strike } = await coverOf(protocol, product, policyId);
  return (strike * BigInt(10_000 - product.triggerDropBps)) / 10_000n;
}

/** Closes an expired policy. Any account may. */
export const markExpired = (
  protocol: Protocol,
  account: LocalAccount,
  product: ProductRef,
  policyId: bigint,
) =>
  send(
    protocol,
    account,
    protocol.deployment.contracts.policyManager,
    encodeFunctionData({
      abi: policyManagerAbi,
      functionName: "markExpired",
      args: [product.productId, policyId],
    }),
  );
