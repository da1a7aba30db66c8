import { z } from "@hono/zod-openapi";
import { policyStatuses } from "../../lib/indexed/policy-status.ts";
import { Policy, policyParams } from "../chain/policy-schemas.ts";
import { nullableDecimal, UnixSeconds } from "../http/field-types.ts";
import { cursorField, cursorText, limitInput } from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { indexedResponses } from "../indexed/documented-responses.ts";
import { eventPosition } from "../indexed/event-position.ts";
import type { RoundPlace } from "./evaluation-queries.ts";
import { MET_AT_MEANING, RoundId } from "./proof-schemas.ts";
import { Obstacle, TriggerVerdict } from "./verdict-schemas.ts";
import { roundVerdictCodes, roundVerdicts } from "./window.ts";

const EvaluatedRound = z
  .object({
    roundId: RoundId,
    phase: z.int().openapi({ description: "The feed's phase; 0 for a feed without phases.", example: 1 }),
    price: nullableDecimal(
      "The round's price in USD, 18 decimals; null for an answer below zero.",
      "58400000000000000000000",
    ),
    updatedAt: UnixSeconds.openapi({ description: "The round's time, which must be in the window." }),
    verdict: z.enum(roundVerdictCodes).openapi({
      description: `What the round is to this policy. ${Object.entries(roundVerdicts)
        .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
        .join("; ")}.`,
      example: "counts",
    }),
    ...eventPosition,
  })
  .openapi("EvaluatedRound");

const known = Policy.pick({
  productId: true,
  productName: true,
  policyId: true,
  buyer: true,
  holder: true,
  coverageAmount: true,
  payoutAmount: true,
  purchasedAt: true,
  strikePrice: true,
  triggerPrice: true,
  currentPrice: true,
  currentPriceAt: true,
  distanceToTriggerBps: true,
});

const TriggerEvaluation = known
  .extend({
    status: z.enum(policyStatuses).nullable().openapi({
      description: "As in `GET /policies/{productId}/{policyId}`; null when the end of the cover is unknown.",
      example: "Active",
    }),
    coverFrom: nullableDecimal(
      "Prices count from then on, Unix seconds: the purchase. Null when unknown.",
      "1767225600",
    ),
    expiresAt: nullableDecimal(
      "Prices count until then, and the policy can be triggered until then, Unix seconds; null when unknown.",
      "1767229200",
    ),
    verdict: TriggerVerdict,
    roundsCounted: z.int().min(0).max(3).openapi({
      description: "Rounds that count, three at most: as many as a trigger needs.",
      example: 1,
    }),
    metAt: nullableDecimal(`${MET_AT_MEANING} Null before it.`),
    count: z.int().openapi({ description: "Rounds in this response.", example: 1 }),
    limit: z.int().openapi({ example: 50 }),
    nextCursor: cursorField,
    rounds: z.array(EvaluatedRound).openapi({
      description:
        "Rounds of the asset's feed, the newest first by `updatedAt`: from the hour before the purchase, which has the round of the strike price, to the hour after the window. Empty when the window is unknown.",
    }),
    // After the rounds: the table of an answer is its first list.
    obstacles: z.array(Obstacle).openapi({
      description:
        "What stops every trigger of the policy now, whatever the prices are. Empty for a policy that is not open any more.",
    }),
  })
  .openapi("TriggerEvaluation");

export type TriggerEvaluationBody = z.infer<typeof TriggerEvaluation>;

/** The place of the previous page's last round. */
const roundCursor = cursorText(/^\d{1,15}-\d{1,25}$/, "1767225900-18446744073709551620")
  .transform((text): RoundPlace => {
    const [updatedAt = "", roundId = ""] = text.split("-");
    return { updatedAt: BigInt(updatedAt), roundId: BigInt(roundId) };
  })
  .optional();

export const triggerEvaluationRoute = createRoute({
  method: "get",
  path: "/api/v1/triggers/{productId}/{policyId}",
  operationId: "getTriggerEvaluation",
  tags: ["policies"],
  summary: "Get why a policy was paid, or was not",
  description:
    "The policy's window, the rounds of its price feed with what each counts for, and the verdict at the indexed block. A policy is triggered by three rounds within its window, each at or below its trigger price, the newest at most an hour old.",
  request: { params: policyParams, query: requestObject({ limit: limitInput(), cursor: roundCursor }) },
  responses: indexedResponses(
    "The evaluation, with one page of rounds.",
    TriggerEvaluation,
    "validation_error",
    "policy_not_found",
  ),
});
