import { z } from "@hono/zod-openapi";
import type { ErrorCode } from "../../lib/errors.ts";
import { failures } from "../http/error-envelope.ts";
import { uuidInput } from "../http/field-types.ts";
import { createRoute } from "../http/route.ts";
import {
  ListingPurchase,
  ListingPurchaseRequest,
  ListingRequest,
  NewListing,
  Redemption,
  RedemptionRequest,
  Report,
} from "./schemas.ts";

const headers = { Location: { description: "URL of the report.", schema: { type: "string" as const } } };

/** The failures of every route that judges a report. */
const judging = [
  "validation_error",
  "unauthenticated",
  "insufficient_scope",
  "tx_not_found",
  "event_missing",
  "tx_reverted",
  "amount_mismatch",
  "internal_error",
  "health_contracts_incomplete",
  "rpc_error",
  "chain_not_found",
  "database_unavailable",
] as const;
/** Only of a redemption that was queued: its payment is read from the index. */
const indexAway = ["indexer_syncing", "indexer_unavailable"] as const;

const description = (what: string) =>
  `For a transaction that the wallet has sent by itself, through any wallet or bundler: ${what} It is judged by the logs of the protocol's contracts for this wallet. The same report again returns the same record; after a reorganisation it is judged again.`;

const reportResponses = <Body extends z.ZodType>(recorded: string, schema: Body, ...codes: ErrorCode[]) => ({
  200: { description: recorded, headers, content: { "application/json": { schema } } },
  202: {
    description: "The transaction is in no block yet. Send the same report again, or read `Location`.",
    headers,
    content: { "application/json": { schema: Report } },
  },
  ...failures(...judging, "payload_too_large", "unsupported_media_type", ...codes),
});

export const redeemRoute = createRoute({
  method: "post",
  path: "/api/v1/redeem",
  operationId: "reportRedemption",
  tags: ["redeem"],
  summary: "Report a redemption",
  description: description("`redeemBond` of the bond vault."),
  security: [{ apiKey: [] }],
  request: { body: { required: true, content: { "application/json": { schema: RedemptionRequest } } } },
  responses: reportResponses(
    "Redeemed, or queued: `status` says which. Once a queued one is paid, the same report has the payment.",
    Redemption,
    "owner_mismatch",
    "duplicate_redemption",
    "holder_mismatch",
    "epoch_mismatch",
    ...indexAway,
  ),
});

export const listRoute = createRoute({
  method: "post",
  path: "/api/v1/marketplace/list",
  operationId: "reportListing",
  tags: ["marketplace"],
  summary: "Report a listing",
  description: description("`list` of the marketplace."),
  security: [{ apiKey: [] }],
  request: { body: { required: true, content: { "application/json": { schema: ListingRequest } } } },
  responses: reportResponses(
    "Listed.",
    NewListing,
    "seller_mismatch",
    "duplicate_listing",
    "epoch_mismatch",
    "price_mismatch",
  ),
});

export const buyRoute = createRoute({
  method: "post",
  path: "/api/v1/marketplace/buy",
  operationId: "reportListingPurchase",
  tags: ["marketplace"],
  summary: "Report the purchase of a listing",
  description: description("`executeBuy` of the marketplace."),
  security: [{ apiKey: [] }],
  request: { body: { required: true, content: { "application/json": { schema: ListingPurchaseRequest } } } },
  responses: reportResponses(
    "Bought.",
    ListingPurchase,
    "buyer_mismatch",
    "duplicate_purchase",
    "listing_id_mismatch",
    "price_mismatch",
  ),
});

export const readReportRoute = createRoute({
  method: "get",
  path: "/api/v1/reports/{id}",
  operationId: "getReport",
  tags: ["redeem"],
  summary: "Get a report",
  description:
    "For keys of the wallet that made the report; 404 for others. It is judged by the chain as it is now: a transaction that was reorganised away makes it `pending` again, or fails with `tx_not_found`; one that reverted, or is not as reported, fails as the report would.",
  security: [{ apiKey: [] }],
  request: {
    params: z.object({ id: uuidInput.openapi({ example: "700bf5d5-c0cc-4436-94de-27031b1d28ee" }) }),
  },
  responses: {
    200: { description: "The report.", content: { "application/json": { schema: Report } } },
    ...failures(
      "not_found",
      ...judging,
      "buyer_mismatch",
      "seller_mismatch",
      "duplicate_listing",
      "duplicate_purchase",
      "duplicate_redemption",
      "holder_mismatch",
      "epoch_mismatch",
      "listing_id_mismatch",
      "price_mismatch",
      ...indexAway,
    ),
  },
});
