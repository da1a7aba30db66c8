/** The verdict on a policy's trigger in the OpenAPI document: one schema per code. */
import { z } from "@hono/zod-openapi";
import { claim } from "../chain/policy-schemas.ts";
import {
  Bytes32,
  DecimalString,
  nullableAddress,
  nullableDecimal,
  UnixSeconds,
} from "../http/field-types.ts";
import { eventPosition } from "../indexed/event-position.ts";
import { proofFields, RoundId } from "./proof-schemas.ts";

const message = z
  .string()
  .openapi({ description: "The same for people.", example: "One of three rounds counts so far." });
const time = (description: string) => UnixSeconds.openapi({ description });

const verdict = <const Code extends string, Fields extends z.ZodRawShape>(
  code: Code,
  description: string,
  fields: Fields,
) => z.object({ code: z.literal(code).openapi({ description }), message, ...fields });

export const TriggerVerdict = z
  .union([
    verdict("triggered", "The policy was paid.", {
      submitter: nullableAddress(
        "The account that called the cover router, from the event. For a trigger that came in a batch it is the contract that made the calls (Multicall3), and not the sender of the transaction.",
        "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
      ),
      bondId: nullableDecimal(
        "Epoch (YYYYMM) of the bond that paid the policy; null when unknown.",
        "202812",
      ),
      bondAmount: DecimalString.openapi({
        description: "Face value of that bond in whole dollars.",
        example: "800",
      }),
      reason: Bytes32.openapi({
        description: "The shield's reason: text, as bytes32.",
        example: "0x50524943455f46414c4c00000000000000000000000000000000000000000000",
      }),
      provenBy: z.array(RoundId).nullable().openapi({
        description:
          "The three rounds that proved the trigger, if only three could when it was mined. Null if more could: only the transaction's calldata names the chosen ones, and it is not indexed.",
      }),
      ...eventPosition,
    }),
    verdict("due", "A trigger submitted now would be paid.", {
      ...proofFields,
      claim,
    }).openapi("DueVerdict"),
    verdict("not_met", "Fewer than three rounds count so far.", {
      missing: z.int().min(1).max(3).openapi({ description: "Rounds that are missing.", example: 2 }),
    }),
    verdict(
      "met_but_stale",
      "Three rounds count, but the newest is more than an hour old: the shield takes no such proof. One more round at or below the trigger price makes the policy due again.",
      { freshUntil: time("Last second in which the rounds were a proof.") },
    ),
    verdict("blocked", "Three rounds prove the trigger, but something else stops it: see `obstacles`.", {
      freshUntil: time("Last second in which the rounds are a proof: a further round moves it."),
    }),
    verdict("expired", "The cover ended, and the policy was not triggered.", {
      met: z.boolean().openapi({
        description:
          "Whether three rounds counted within the window. If so, either nobody submitted the trigger in time, or it could not be paid: in a pause, without the sequencer, or because the third round came too late.",
        example: false,
      }),
      closedAt: nullableDecimal(
        "When somebody closed the policy on chain, which frees its capacity; null until then.",
        "1767232900",
      ),
    }),
    verdict("unknown", "The index does not know enough to tell.", {
      missing: z.enum(["terms", "price", "rounds"]).openapi({
        description:
          "`terms`: of a product from before the first indexed block; `price`: of the asset at purchase; `rounds`: of the feed's newest phase, which the indexer reads after a restart.",
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
    code: z.enum(["sequencer_down", "sequencer_grace", "sequencer_unknown", "payout_too_small"]).openapi({
      description:
        "`sequencer_down`: the chain's sequencer is down; `sequencer_grace`: it came back less than an hour ago; `sequencer_unknown`: its feed has no status; `payout_too_small`: a bond is a dollar at least.",
      example: "sequencer_grace",
    }),
    message: z
      .string()
      .openapi({ description: "The same for people.", example: "The chain's sequencer is down." }),
    until: nullableDecimal(
      "First second in which it does not stop a trigger any more, Unix seconds, if nothing else happens; null when nobody knows.",
    ),
  })
  .openapi("TriggerObstacle");

export type Obstacle = z.infer<typeof Obstacle>;
