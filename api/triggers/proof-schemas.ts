/** The proof of a trigger in the OpenAPI document. */
import { z } from "@hono/zod-openapi";
import { DecimalString, UnixSeconds } from "../http/field-types.ts";

export const RoundId = DecimalString.openapi({
  description:
    "The id by which the feed knows the round: `phase << 64 | round of the aggregator`; a `uint80`, too large for a JSON number.",
  example: "18446744073709551620",
});

const ProofRound = z
  .object({
    roundId: RoundId,
    price: DecimalString.openapi({
      description: "The round's price in USD, 18 decimals.",
      example: "58400000000000000000000",
    }),
    updatedAt: UnixSeconds.openapi({ description: "The round's time." }),
  })
  .openapi("ProofRound");

const EXAMPLE_ROUNDS = [4n, 5n, 6n].map((round) => 2n ** 64n + round);

/** A proof, and until when it holds. */
export const proofFields = {
  rounds: z.array(ProofRound).openapi({
    description: "The three rounds of the proof, by rising id: the newest that count.",
  }),
  oracleProof: z
    .string()
    .regex(/^0x[0-9a-f]{192}$/)
    .openapi({
      description:
        "The argument `oracleProof` of `submitTrigger`: `abi.encode(uint80[3])` of the rounds' ids.",
      example: `0x${EXAMPLE_ROUNDS.map((id) => id.toString(16).padStart(64, "0")).join("")}`,
    }),
  validUntil: UnixSeconds.openapi({
    description:
      "The last second in which this proof is accepted: the end of the window, or when its newest round is an hour old.",
    example: "1767229200",
  }),
};

/** The description of `metAt`. */
export const MET_AT_MEANING =
  "The time of the third round, by the rounds' own times, that is in the policy's window and at or below its trigger price: since then the condition is met. The policy may be due only since later, after a pause or an outage of the sequencer.";
