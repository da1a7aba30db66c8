import type { z } from "@hono/zod-openapi";
import type { ErrorCode } from "../../lib/errors.ts";
import { failures } from "../http/error-envelope.ts";
import { createRoute } from "../http/route.ts";
import {
  PrepareListingActionRequest,
  PrepareListingRequest,
  PreparePolicyRequest,
  PrepareRedemptionRequest,
  PrepareTriggerRequest,
  PrepareWithdrawalRequest,
} from "./request-schemas.ts";
import { Prepared } from "./schemas.ts";

const about =
  "Answers with the transactions that the wallet has to sign itself, and with what stands in their way. The service sends and stores nothing, and needs no key. What stands in the way is an issue of a 200. Everything is read at one block, which `asOf` names.";

/** A route that prepares an action; each has the same answer. */
const prepareRoute = <
  const Path extends string,
  const Tag extends "redeem" | "marketplace" | "policies",
  Body extends z.ZodType,
>(
  { path, operationId, summary }: { path: Path; operationId: string; summary: string },
  tag: Tag,
  schema: Body,
  ...codes: ErrorCode[]
) =>
  createRoute({
    method: "post",
    path,
    operationId,
    tags: [tag],
    summary,
    description: about,
    request: { body: { required: true, content: { "application/json": { schema } } } },
    responses: {
      200: {
        description: "The prepared action.",
        headers: {
          "x-chain-block": {
            description: "The block that everything was read at.",
            schema: { type: "string" as const, example: "1234" },
          },
          "Cache-Control": {
            description: "Each answer is read anew.",
            schema: { type: "string" as const, example: "no-store" },
          },
        },
        content: { "application/json": { schema: Prepared } },
      },
      ...failures(
        "validation_error",
        "payload_too_large",
        "unsupported_media_type",
        "internal_error",
        "health_contracts_incomplete",
        "chain_not_found",
        ...codes,
      ),
    },
  });

export const prepareRedemptionRoute = prepareRoute(
  {
    path: "/api/v1/redeem/prepare",
    operationId: "prepareRedemption",
    summary: "Prepare a redemption of bonds",
  },
  "redeem",
  PrepareRedemptionRequest,
);

export const prepareListingRoute = prepareRoute(
  {
    path: "/api/v1/marketplace/list/prepare",
    operationId: "prepareListing",
    summary: "Prepare a listing of bonds",
  },
  "marketplace",
  PrepareListingRequest,
);

export const prepareListingPurchaseRoute = prepareRoute(
  {
    path: "/api/v1/marketplace/buy/prepare",
    operationId: "prepareListingPurchase",
    summary: "Prepare the purchase of a listing",
  },
  "marketplace",
  PrepareListingActionRequest,
  "listing_not_found",
);

export const prepareCancellationRoute = prepareRoute(
  {
    path: "/api/v1/marketplace/cancel/prepare",
    operationId: "prepareListingCancellation",
    summary: "Prepare the cancellation of a listing",
  },
  "marketplace",
  PrepareListingActionRequest,
  "listing_not_found",
);

export const prepareWithdrawalRoute = prepareRoute(
  {
    path: "/api/v1/marketplace/withdraw/prepare",
    operationId: "prepareWithdrawal",
    summary: "Prepare the withdrawal of a seller's proceeds",
  },
  "marketplace",
  PrepareWithdrawalRequest,
);

export const prepareTriggerRoute = prepareRoute(
  {
    path: "/api/v1/triggers/prepare",
    operationId: "prepareTrigger",
    summary: "Prepare the trigger of a policy",
  },
  "policies",
  PrepareTriggerRequest,
  "policy_not_found",
);

export const preparePolicyRoute = prepareRoute(
  {
    path: "/api/v1/policies/prepare",
    operationId: "preparePolicy",
    summary: "Prepare a purchase: one that the buyer sends itself, or the permit of a relayed one",
  },
  "policies",
  PreparePolicyRequest,
  "unknown_product",
  "invalid_product",
);
