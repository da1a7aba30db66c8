import { z } from "@hono/zod-openapi";
import type { Hex } from "viem";
import { claim, Policy } from "../chain/policy-schemas.ts";
import { DecimalString, UnixSeconds } from "../http/field-types.ts";
import { cursorText, limitInput, offsetInput, pageFields, refuseOffsetWithCursor } from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { indexedResponses } from "../indexed/documented-responses.ts";
import type { Deadline } from "./due-queries.ts";
import { MET_AT_MEANING, proofFields } from "./proof-schemas.ts";

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
      description: "The last second in which the policy can be triggered.",
      example: "1767229200",
    }),
    metAt: UnixSeconds.openapi({ description: MET_AT_MEANING }),
    ...proofFields,
    claim,
  })
  .openapi("DuePolicy");

export type DuePolicyBody = z.infer<typeof DuePolicy>;

const deadlineCursor = cursorText(/^\d{1,15}-0x[0-9a-f]{64}-\d{1,78}$/, `1767229200-0x${"ab".repeat(32)}-17`)
  .transform((text): Deadline => {
    const [expiresAt = "", productId = "", policyId = ""] = text.split("-");
    const id: Hex = `0x${productId.slice(2)}`;
    return { expiresAt: BigInt(expiresAt), productId: id, policyId: BigInt(policyId) };
  })
  .optional();

export const duePoliciesRoute = createRoute({
  method: "get",
  path: "/api/v1/triggers/due",
  operationId: "listDuePolicies",
  tags: ["policies"],
  summary: "List the policies that a trigger would pay now",
  description:
    "Each policy for which `submitTrigger` would be paid in the indexed block, with the proof, those that expire first at the front. Anybody may submit the trigger; the bond goes to the buyer. Nothing is due during the global pause, and while the sequencer is down or came back less than an hour ago. The index cannot know whether a contract that bought a policy refuses bonds: its trigger reverts.",
  request: {
    query: requestObject({ limit: limitInput(), offset: offsetInput, cursor: deadlineCursor }).superRefine(
      refuseOffsetWithCursor,
    ),
  },
  responses: indexedResponses(
    "One page, by deadline, then by product and id.",
    z.object({ ...pageFields, policies: z.array(DuePolicy) }).openapi("DuePolicyList"),
    "validation_error",
  ),
});
