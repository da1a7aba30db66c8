/** The sandbox's responses, as the API specification defines them. */
import { getAddress } from "viem";
import type { Deployment } from "../../lib/deployments.ts";
import type { Purchase, PurchaseReceipt } from "../../lib/ledger/purchase.ts";
import { entryById } from "../../lib/products.ts";
import type { MinedTransaction } from "../chain/contracts/transaction.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import type { SandboxInfoBody, SandboxPurchaseBody, SandboxTransactionBody } from "./schemas.ts";
import { defaultProduct, SANDBOX_COVERAGE } from "./terms.ts";
import type { SandboxState } from "./wallet.ts";

function reasonOf(state: SandboxState): string | null {
  return (state.status === "ready" ? state.check.fault : state.reason) ?? null;
}

function fundsBody(state: SandboxState): SandboxInfoBody["funds"] {
  if (state.status === "disabled" || !state.check) return null;
  const { usdc, allowance, ether, checkedAt } = state.check;
  return {
    usdc: String(usdc),
    allowance: String(allowance),
    eth: String(ether),
    checkedAt: checkedAt.toISOString(),
  };
}

/** `origin` is the API's public URL. */
export const infoBody = (
  state: SandboxState,
  {
    chainId,
    limiter,
    origin,
  }: { chainId: number | undefined; limiter: Pick<Limiter, "limit" | "windowSeconds">; origin: string },
): SandboxInfoBody => ({
  ok: true,
  enabled: state.status !== "disabled",
  status: state.status,
  reason: reasonOf(state),
  chainId: chainId ?? null,
  sandboxWallet: state.wallet ?? null,
  coverageCapUsdc: String(SANDBOX_COVERAGE),
  asset: { symbol: defaultProduct.symbol, bytes32: defaultProduct.asset },
  defaultProductId: defaultProduct.productId,
  defaultProductName: defaultProduct.name,
  rateLimit: { perIp: limiter.limit, windowSeconds: limiter.windowSeconds },
  funds: fundsBody(state),
  docs: `${origin}/api-docs#tag/sandbox`,
});

/** The URL of a transaction: in the chain's explorer, or in this API for a chain without one. */
function explorerOf({ explorerUrl }: Deployment, origin: string, txHash: string): string {
  if (explorerUrl === null) return `${origin}/sandbox/transactions/${txHash}`;
  return `${explorerUrl.replace(/\/+$/, "")}/tx/${txHash}`;
}

export const boughtBody = (
  { chainId, request }: Pick<Purchase, "chainId" | "request">,
  { txHash, blockNumber, policyId, premiumPaid }: PurchaseReceipt,
  { deployment, origin }: { deployment: Deployment; origin: string },
): SandboxPurchaseBody => ({
  ok: true,
  sandbox: true,
  chainId,
  policyId: String(policyId),
  productId: request.productId,
  buyer: getAddress(request.buyer),
  coverageAmount: String(request.coverageAmount),
  premiumPaid: String(premiumPaid),
  txHash,
  blockNumber: Number(blockNumber),
  policyUrl: `${origin}/sandbox/policies/${request.productId}/${policyId}`,
  blockExplorer: explorerOf(deployment, origin, txHash),
});

export const transactionBody = (chainId: number, transaction: MinedTransaction): SandboxTransactionBody => ({
  chainId,
  txHash: transaction.hash,
  status: transaction.succeeded ? "success" : "reverted",
  blockNumber: Number(transaction.blockNumber),
  blockHash: transaction.blockHash,
  from: getAddress(transaction.from),
  to: transaction.to && getAddress(transaction.to),
  gasUsed: String(transaction.gasUsed),
  policies: transaction.policies.map(({ productId, policyId, buyer, coverage, premium, payout }) => ({
    productId,
    productName: entryById(productId)?.name ?? null,
    policyId: String(policyId),
    buyer: getAddress(buyer),
    coverageAmount: String(coverage),
    premiumPaid: String(premium),
    payoutAmount: String(payout),
  })),
});
