import type { Address, Hex } from "viem";
import type { ErrorCode } from "../errors.ts";
import type { purchaseTable } from "./tables.ts";

/** What a client wants to buy. `coverageAmount` is in USDC base units (6 decimals). */
export type PurchaseRequest = { productId: Hex; coverageAmount: bigint; asset: Hex; buyer: Address };

/** The mined transaction. `policyId` counts per product; `premiumPaid` is in USDC base units (6 decimals). */
export type PurchaseReceipt = {
  txHash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  policyId: bigint;
  premiumPaid: bigint;
};

/** How far a purchase has come, with the evidence that each state has. */
export type PurchaseProgress =
  | { state: "accepted" }
  | { state: "signed" | "broadcast"; txHash: Hex }
  | { state: "mined" | "confirmed"; receipt: PurchaseReceipt }
  /** `txHash` is null when nothing was ever signed, so that nothing was spent. */
  | { state: "failed"; code: ErrorCode; message: string; txHash: Hex | null }
  /** It waited too long to be mined, and an empty transfer, `txHash`, was mined on its nonce: nothing was bought. */
  | { state: "replaced"; code: ErrorCode; message: string; txHash: Hex };

/** `id` is a UUID; `wallet` the key's wallet, lowercase, whose purchase it is. */
export type Purchase = {
  id: string;
  chainId: number;
  wallet: Address;
  request: PurchaseRequest;
  createdAt: Date;
} & PurchaseProgress;

/** True once there is something to answer: the transaction was mined, or the purchase failed or was replaced. */
export const isSettled = (purchase: Pick<Purchase, "state">): boolean =>
  !["accepted", "signed", "broadcast"].includes(purchase.state);

type Row = typeof purchaseTable.$inferSelect;

function progressOf(row: Row): PurchaseProgress {
  const { state, txHash, blockNumber, blockHash, policyId, premiumPaid, failureCode, failureMessage } = row;
  switch (state) {
    case "accepted":
      return { state };
    case "signed":
    case "broadcast":
      if (txHash !== null) return { state, txHash };
      break;
    case "mined":
    case "confirmed":
      if (
        txHash !== null &&
        blockNumber !== null &&
        blockHash !== null &&
        policyId !== null &&
        premiumPaid !== null
      ) {
        return { state, receipt: { txHash, blockNumber, blockHash, policyId, premiumPaid } };
      }
      break;
    case "failed":
    case "replaced":
      // A reorganisation can still undo it, and the same bytes then buy: its fate is open until it is final.
      if (txHash !== null && row.finalAt === null) return { state: "broadcast", txHash };
      if (failureCode === null || failureMessage === null) break;
      if (state === "failed") return { state, code: failureCode, message: failureMessage, txHash };
      if (txHash !== null) return { state, code: failureCode, message: failureMessage, txHash };
      break;
  }
  throw new Error(`purchase ${row.id} is ${state} without the columns of that state`);
}

/** A row of the table as a {@link Purchase}. The table's constraints make the throw unreachable. */
export function purchaseOf(row: Row): Purchase {
  const { id, chainId, wallet, createdAt, productId, coverageAmount, asset, buyer } = row;
  const request = { productId, coverageAmount, asset, buyer };
  return { id, chainId, wallet, request, createdAt, ...progressOf(row) };
}
