import { z } from "@hono/zod-openapi";
import type { Hex } from "viem";
import { claim, Policy } from "../chain/policy-schemas.ts";
import { DecimalString, UnixSeconds } from "../http/field-types.ts";
import { cursorText, limitInput, offsetInput, pageFields, refuseOffsetWithCursor } from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { indexedResponses } from "../indexed/documented-responses.ts";
import type { LastMoment } from "./due-queries.ts";
import { observationFields } from "./observation-schemas.ts";

const price = (description: string, example: string) => DecimalString.openapi({ description, example });

const DuePolicy = Policy.pick({
  productId: true,
  productName: true,
  policyId: true,
  buyer: true,
  holder: true,
  coverageAmount: true,
  payoutAmount: true,
  currentPrice: true,
  currentPriceAt: true,
})
  .extend({
    strikePrice: price("The asset's price in USD at purchase, 18 decimals.", "60000000000000000000000"),
    triggerPrice: price(
      "The highest price of the asset in USD, 18 decimals, that triggers the policy.",
      "58500000000000000000000",
    ),
    expiresAt: UnixSeconds.openapi({
      description: "The last second in which the policy can be observed.",
      example: "1767229200",
    }),
    ...observationFields,
    claim,
  })
  .openapi("DuePolicy");

export type DuePolicyBody = z.infer<typeof DuePolicy>;

const placeCursor = cursorText(/^\d{1,15}-0x[0-9a-f]{64}-\d{1,78}$/, `1767229200-0x${"ab".repeat(32)}-17`)
  .transform((text): LastMoment => {
    const [lastMoment = "", productId = "", policyId = ""] = text.split("-");
    const id: Hex = `0x${productId.slice(2)}`;
    return { lastMoment: BigInt(lastMoment), productId: id, policyId: BigInt(policyId) };
  })
  .optional();

export const duePoliciesRoute = createRoute({
  method: "get",
  path: "/api/v1/triggers/due",
  operationId: "listDuePolicies",
  tags: ["policies"],
  summary: "List the policies that can be observed now",
  description:
    "Each policy that a call in the block after the indexed one can observe, those whose last moment comes first at the front. A policy is paid by its third observation, each in another block, of a newer round of the feed, at least 60 seconds after the one before; the first is possible 300 seconds after the purchase. Anybody may send `performUpkeep` of the keeper contract, which `POST /api/v1/triggers/prepare` prepares; the bond goes to the buyer. Nothing is due while the sequencer is down or came back less than an hour ago. The index cannot know whether a contract that bought a policy refuses bonds: its third observation fails.",
  request: {
    query: requestObject({ limit: limitInput(), offset: offsetInput, cursor: placeCursor }).superRefine(
      refuseOffsetWithCursor,
    ),
  },
  responses: indexedResponses(
    "One page, by last moment, then by product and id.",
    z.object({ ...pageFields, policies: z.array(DuePolicy) }).openapi("DuePolicyList"),
    "validation_error",
  ),
});
