/** The verdict on a policy's trigger in the OpenAPI document: one schema per code. */
import { z } from "@hono/zod-openapi";
import { claim } from "../chain/policy-schemas.ts";
import { Address, Bytes32, DecimalString, nullableDecimal, UnixSeconds } from "../http/field-types.ts";
import { eventPosition } from "../indexed/event-position.ts";
import { observationFields } from "./observation-schemas.ts";

const message = z.string().openapi({
  description: "The same for people.",
  example: "The price is above the trigger price.",
});
const time = (description: string) => UnixSeconds.openapi({ description });

const verdict = <const Code extends string, Fields extends z.ZodRawShape>(
  code: Code,
  description: string,
  fields: Fields,
) => z.object({ code: z.literal(code).openapi({ description }), message, ...fields });

const { observation } = observationFields;

export const TriggerVerdict = z
  .union([
    verdict("triggered", "The policy was paid.", {
      submitter: Address.openapi({
        description: "The account that called the router, or else the sender of the transaction.",
      }),
      bondId: nullableDecimal(
        "Epoch (YYYYMM) of the bond that paid the policy; null when unknown.",
        "202812",
      ),
      bondAmount: DecimalString.openapi({
        description: "Face value of that bond in whole dollars.",
        example: "800",
      }),
      reason: Bytes32.openapi({
        description: "SETTLED_BY_KEEPER, or TRIGGER_DROP for a trigger by the router, as bytes32.",
        example: "0x534554544c45445f42595f4b4545504552000000000000000000000000000000",
      }),
      ...eventPosition,
    }),
    verdict("due", "A call now makes the next observation; the third pays.", {
      ...observationFields,
      claim,
    }).openapi("DueVerdict"),
    verdict("dwell", "The policy was bought less than 300 seconds ago: no price counts yet.", {
      from: time("The first observation is possible from then on."),
    }),
    verdict("not_met", "The feed's newest price is above the trigger price, or not above zero.", {}),
    verdict("stale", "The feed's newest price is at or below the trigger price, and older than an hour.", {
      freshUntil: time("Last second in which it could be observed."),
    }),
    verdict("waits_for_round", "It is observed already, and needs a newer round of the feed.", {
      observation,
    }),
    verdict("waits_for_time", "The observation before was made less than 60 seconds ago.", {
      observation,
      from: time("The next observation is possible from then on."),
    }),
    verdict(
      "blocked",
      "The price is low enough, and something else stops the observation: see `obstacles`.",
      {
        observation,
      },
    ),
    verdict("lost", "Too little of the cover is left for three observations.", {}),
    verdict("expired", "The cover ended, and the policy was not triggered.", {
      closedAt: nullableDecimal(
        "When somebody closed the policy on chain, which frees its capacity; null until then.",
        "1767232900",
      ),
    }),
    verdict("unknown", "The index does not know enough to tell.", {
      missing: z.enum(["terms", "price", "rounds"]).openapi({
        description:
          "`terms`: of a product that is not in the catalogue; `price`: of the asset at purchase; `rounds`: of the feed's newest phase, which the indexer reads after a restart.",
        example: "terms",
      }),
    }),
  ])
  .openapi("TriggerVerdict", {
    description: "Whether the policy was paid, is due, or is not, and why; `code` says which.",
  });

export type Verdict = z.infer<typeof TriggerVerdict>;

export const Obstacle = z
  .object({
    code: z.enum(["sequencer_down", "sequencer_grace", "sequencer_unknown"]).openapi({
      description:
        "`sequencer_down`: the chain's sequencer is down; `sequencer_grace`: it came back less than an hour ago; `sequencer_unknown`: its feed has no status.",
      example: "sequencer_grace",
    }),
    message: z
      .string()
      .openapi({ description: "The same for people.", example: "The chain's sequencer is down." }),
    until: nullableDecimal(
      "First second in which it does not stop an observation any more, Unix seconds, if nothing else happens; null when nobody knows.",
    ),
  })
  .openapi("TriggerObstacle");

export type Obstacle = z.infer<typeof Obstacle>;
