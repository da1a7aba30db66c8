import { getAddress } from "viem";
import type { Purchase, PurchaseReceipt } from "../../lib/ledger/purchase.ts";
import type { PurchaseBody, PurchaseReceiptBody } from "./schemas.ts";

/** A mined purchase's receipt, as the API specification defines it. */
export function receiptBody(
  { id, request }: Pick<Purchase, "id" | "request">,
  { txHash, blockNumber, policyId, premiumPaid }: PurchaseReceipt,
): PurchaseReceiptBody {
  return {
    ok: true,
    purchaseId: id,
    txHash,
    blockNumber: Number(blockNumber),
    policyId: String(policyId),
    buyer: getAddress(request.buyer),
    productId: request.productId,
    coverageAmount: String(request.coverageAmount),
    premiumPaid: String(premiumPaid),
  };
}

/** The fields that depend on the state. */
function progressBody(purchase: Purchase): Pick<PurchaseBody, "txHash" | "receipt" | "failure"> {
  switch (purchase.state) {
    case "accepted":
      return { txHash: null, receipt: null, failure: null };
    case "signed":
    case "broadcast":
      return { txHash: purchase.txHash, receipt: null, failure: null };
    case "mined":
    case "confirmed":
      return {
        txHash: purchase.receipt.txHash,
        receipt: receiptBody(purchase, purchase.receipt),
        failure: null,
      };
    case "failed":
    case "replaced":
      return {
        txHash: purchase.txHash,
        receipt: null,
        failure: { error: purchase.code, message: purchase.message },
      };
  }
}

/** A purchase, for its owner. */
export const purchaseBody = (purchase: Purchase): PurchaseBody => ({
  purchaseId: purchase.id,
  state: purchase.state,
  createdAt: purchase.createdAt.toISOString(),
  productId: purchase.request.productId,
  coverageAmount: String(purchase.request.coverageAmount),
  asset: purchase.request.asset,
  buyer: getAddress(purchase.request.buyer),
  ...progressBody(purchase),
});
