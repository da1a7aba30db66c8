import type { ISql } from "postgres";
import type { Address, Hex } from "viem";
import type { ErrorCode } from "../errors.ts";

export const purchaseStates = [
  "accepted",
  "signed",
  "broadcast",
  "mined",
  "confirmed",
  "failed",
  "replaced",
] as const;
export type PurchaseState = (typeof purchaseStates)[number];

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

/** A purchase's state with its evidence. */
export type PurchaseProgress =
  | { state: "accepted" }
  | { state: "signed" | "broadcast"; txHash: Hex }
  | { state: "mined" | "confirmed"; receipt: PurchaseReceipt }
  /** `txHash` is null when nothing was ever signed, so nothing was spent. */
  | { state: "failed"; code: ErrorCode; message: string; txHash: Hex | null }
  /** It waited too long, and the empty transfer `txHash` was mined on its nonce: nothing was bought. */
  | { state: "replaced"; code: ErrorCode; message: string; txHash: Hex };

/** `id` is a UUID; `wallet` is the wallet of the key that bought, lowercase. */
export type Purchase = {
  id: string;
  chainId: number;
  wallet: Address;
  request: PurchaseRequest;
  createdAt: Date;
} & PurchaseProgress;

/** True once the outcome is known: the transaction was mined, or the purchase failed or was replaced. */
export const isSettled = (purchase: Pick<Purchase, "state">): boolean =>
  !["accepted", "signed", "broadcast"].includes(purchase.state);

/** A row of `service.purchase_progress`, as {@link purchaseColumns} selects it; block number and amounts are decimals. */
export type PurchaseRow = Pick<Purchase, "id" | "chainId" | "wallet" | "createdAt"> &
  Omit<PurchaseRequest, "coverageAmount"> & {
    coverageAmount: string;
    state: PurchaseState;
    failureCode: ErrorCode | null;
    failureMessage: string | null;
    txHash: Hex | null;
    blockNumber: string | null;
    blockHash: Hex | null;
    policyId: string | null;
    premiumPaid: string | null;
    final: boolean;
  };

export const purchaseColumns = (sql: ISql) => sql`
  id, chain_id as "chainId", wallet, product_id as "productId", coverage_amount as "coverageAmount", asset, buyer,
  state, failure_code as "failureCode", failure_message as "failureMessage", tx_hash as "txHash",
  block_number as "blockNumber", block_hash as "blockHash", policy_id as "policyId", premium_paid as "premiumPaid",
  created_at as "createdAt", final_at is not null as final`;

function progressOf(row: PurchaseRow): PurchaseProgress {
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
        const numbers = {
          blockNumber: BigInt(blockNumber),
          policyId: BigInt(policyId),
          premiumPaid: BigInt(premiumPaid),
        };
        return { state, receipt: { txHash, blockHash, ...numbers } };
      }
      break;
    case "failed":
    case "replaced":
      // Until it is final, a reorganisation can undo it, and the same signed bytes can then buy.
      if (txHash !== null && !row.final) return { state: "broadcast", txHash };
      if (failureCode === null || failureMessage === null) break;
      if (state === "failed") return { state, code: failureCode, message: failureMessage, txHash };
      if (txHash !== null) return { state, code: failureCode, message: failureMessage, txHash };
      break;
  }
  throw new Error(`purchase ${row.id} is ${state} without the columns of that state`);
}

/** A row of the table as a {@link Purchase}. The table's constraints make the throw unreachable. */
export function purchaseOf(row: PurchaseRow): Purchase {
  const { id, chainId, wallet, createdAt, productId, asset, buyer } = row;
  const request = { productId, coverageAmount: BigInt(row.coverageAmount), asset, buyer };
  return { id, chainId, wallet, request, createdAt, ...progressOf(row) };
}
