/** Reports: what a wallet says it has sent, and what the chain shows of it. */
import type { Address, Hex } from "viem";
import type { ErrorCode } from "../../lib/errors.ts";

/**
 * What a wallet (checksummed) reports of its transaction. Amounts are whole dollars, prices USDC base units (6 decimals):
 * of a listing the total, of a purchase the total with the buyer's fee.
 */
export type Report = { readonly wallet: Address; readonly txHash: Hex } & (
  | { readonly kind: "redeem"; readonly epochId: bigint; readonly amount: bigint }
  | { readonly kind: "list"; readonly epochId: bigint; readonly amount: bigint; readonly price: bigint }
  | { readonly kind: "buy"; readonly listingId: bigint; readonly amount: bigint; readonly price: bigint }
);

export const reportKinds = ["redeem", "list", "buy"] as const;
export type ReportKind = (typeof reportKinds)[number];

/** A redemption by `BondRedeemed`; tokens and price have 18 decimals. */
type Redeemed = { readonly status: "redeemed"; readonly tokenAmount: bigint; readonly priceUsed: bigint };
/** A redemption by `BondQueued`: only the week `targetEpoch`, floor(Unix seconds / 7 days), can pay it. */
type Queued = { readonly status: "queued"; readonly targetEpoch: bigint };

/** The event of a report, from the log of one of our contracts. */
export type ReportEvent = { readonly logIndex: number } & (
  | {
      readonly kind: "redeem";
      readonly holder: Address;
      readonly epochId: bigint;
      readonly amount: bigint;
      readonly outcome: Redeemed | Queued;
    }
  | {
      readonly kind: "list";
      readonly listingId: bigint;
      readonly seller: Address;
      readonly epochId: bigint;
      readonly amount: bigint;
      readonly price: bigint;
    }
  | {
      readonly kind: "buy";
      readonly listingId: bigint;
      readonly buyer: Address;
      readonly seller: Address;
      readonly epochId: bigint;
      readonly amount: bigint;
      /** Price and buyer's fee. */
      readonly price: bigint;
    }
);

export type EventOf<Kind extends ReportKind> = Extract<ReportEvent, { kind: Kind }>;

/** A report's event in its block; `timestamp` in Unix seconds. */
export type ReportRecord = {
  readonly event: ReportEvent;
  readonly block: { readonly number: bigint; readonly hash: Hex; readonly timestamp: bigint };
};

/** Why a mined transaction is not what was reported. */
export type Rejection = {
  readonly code: Extract<
    ErrorCode,
    | "tx_reverted"
    | "event_missing"
    | "holder_mismatch"
    | "seller_mismatch"
    | "buyer_mismatch"
    | "epoch_mismatch"
    | "amount_mismatch"
    | "price_mismatch"
    | "listing_id_mismatch"
  >;
  readonly message: string;
};
