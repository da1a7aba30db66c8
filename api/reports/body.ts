import { WEEK_SECONDS } from "../../lib/vault-units.ts";
import { isoTime } from "../http/field-types.ts";
import type { Holdings } from "./holdings.ts";
import type { QueueEntry } from "./queue.ts";
import type { EventOf, ReportEvent } from "./report.ts";
import type { ListingPurchaseBody, NewListingBody, RedemptionBody, ReportBody } from "./schemas.ts";
import type { StoredReport } from "./store.ts";

/** A report with an event of this type, and what its wallet has now; null if that is unknown. */
export type Recorded<Event extends ReportEvent> = Pick<StoredReport, "id" | "report"> & {
  readonly record: NonNullable<StoredReport["record"]> & { readonly event: Event };
  readonly holdings: Holdings | null;
};

const holdingsBody = (holdings: Holdings | null): ListingPurchaseBody["holdings"] => {
  if (holdings === null) return null;
  const { blockNumber, usdc, withdrawable, bonds, openListing } = holdings;
  return {
    usdcBalance: String(usdc),
    withdrawableUsdc: String(withdrawable),
    bondBalance: String(bonds),
    openListing: openListing && {
      listingId: String(openListing.listingId),
      amount: String(openListing.amount),
      totalPriceUsdc: String(openListing.price),
    },
    asOfBlock: String(blockNumber),
  };
};

const minedBody = ({ id, report, record: { event, block }, holdings }: Recorded<ReportEvent>) => ({
  ok: true as const,
  success: true as const,
  reportId: id,
  txHash: report.txHash,
  blockNumber: Number(block.number),
  blockHash: block.hash,
  logIndex: event.logIndex,
  epochId: String(event.epochId),
  bondId: String(event.epochId),
  amount: String(event.amount),
  holdings: holdingsBody(holdings),
});

/** The status of a queued redemption now: nothing pays it once its week is over. */
const queueStatus = (entry: QueueEntry | null) =>
  entry?.payment ? "paid" : entry?.isOver ? "stranded" : "queued";

/** `entry` is that of a queued redemption; null until the index has it. */
export function redemptionBody(
  recorded: Recorded<EventOf<"redeem">>,
  entry: QueueEntry | null,
): RedemptionBody {
  const { event, block } = recorded.record;
  const { outcome } = event;
  const payment = entry?.payment ?? null;
  const paid = outcome.status === "redeemed" ? outcome : payment;
  const tokenReceived = paid && String(paid.tokenAmount);
  return {
    ...minedBody(recorded),
    usdAmount: String(event.amount),
    ownerAddress: event.holder,
    status: outcome.status === "queued" ? queueStatus(entry) : outcome.status,
    tokenReceived,
    luminaReceived: tokenReceived,
    priceUsed: paid && String(paid.priceUsed),
    executedAt: isoTime(block.timestamp),
    queue:
      outcome.status === "redeemed"
        ? null
        : {
            queueId: entry && String(entry.queueId),
            targetEpoch: String(outcome.targetEpoch),
            payableFrom: isoTime(outcome.targetEpoch * WEEK_SECONDS),
            payment: payment && { txHash: payment.txHash, paidAt: isoTime(payment.paidAt) },
          },
  };
}

export function listingBody(recorded: Recorded<EventOf<"list">>): NewListingBody {
  const { event, block } = recorded.record;
  return {
    ...minedBody(recorded),
    listingId: String(event.listingId),
    sellerAddress: event.seller,
    totalPriceUsdc: String(event.price),
    createdAt: isoTime(block.timestamp),
  };
}

export function listingPurchaseBody(recorded: Recorded<EventOf<"buy">>): ListingPurchaseBody {
  const { event, block } = recorded.record;
  return {
    ...minedBody(recorded),
    listingId: String(event.listingId),
    buyerAddress: event.buyer,
    sellerAddress: event.seller,
    totalPaidUsdc: String(event.price),
    executedAt: isoTime(block.timestamp),
  };
}

/** The body of a record, under its kind. */
export type RecordBodies = Partial<Pick<ReportBody, "redemption" | "listing" | "purchase">>;

/** A report for its owner; `bodies` has the record's body, if there is one. */
export const reportBody = (
  { id, report, createdAt, record }: StoredReport,
  bodies: RecordBodies,
): ReportBody => ({
  reportId: id,
  kind: report.kind,
  status: record === null ? "pending" : "recorded",
  txHash: report.txHash,
  walletAddress: report.wallet,
  reportedAt: createdAt.toISOString(),
  redemption: null,
  listing: null,
  purchase: null,
  ...bodies,
});
