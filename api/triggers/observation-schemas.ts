/** Observations of a policy's price in the OpenAPI document. */
import { z } from "@hono/zod-openapi";
import { Bytes32, nullableDecimal, UnixSeconds } from "../http/field-types.ts";
import { eventPosition } from "../indexed/event-position.ts";

/** The observation that a call would make now. */
export const observationFields = {
  observation: z.int().min(1).max(3).openapi({
    description: "Which observation a call makes now, from 1; the third pays the policy.",
    example: 1,
  }),
  observedAt: nullableDecimal(
    "When the observation before it was made, Unix seconds; null for the first.",
    "1767226000",
  ),
  observeUntil: UnixSeconds.openapi({
    description:
      "The last second in which it leaves time for those after it: the end of the cover less 60 seconds for each.",
    example: "1767229080",
  }),
};

export const Observation = z
  .object({
    count: z.int().min(0).max(3).openapi({
      description: "Observations in a row after it; 0 when a price above the trigger price has reset them.",
      example: 1,
    }),
    dropBps: z.string().openapi({
      description: "The fall of the price from the strike price that it saw, in basis points.",
      example: "270",
    }),
    reason: Bytes32.openapi({
      description: "ACCRUING, RESET or TRIGGER_DROP, as bytes32.",
      example: "0x4143435255494e47000000000000000000000000000000000000000000000000",
    }),
    ...eventPosition,
  })
  .openapi("Observation");
