/** Why a policy was paid, is due, or is not: decided from what the index knows at a block. */
import { getAddress } from "viem";
import { CONFIRMATIONS, MINIMUM_PAYOUT, SEQUENCER_GRACE } from "../../lib/price-rules.ts";
import { claimOf } from "../chain/policy-body.ts";
import { decimalOrNull } from "../http/field-types.ts";
import { positionBody } from "../indexed/event-position.ts";
import type { Evaluation, SequencerRow, TriggerRow } from "./evaluation-queries.ts";
import { type FallenRound, freshUntil, toFallenRounds } from "./fallen-rounds.ts";
import { proofBody } from "./proof-body.ts";
import type { Obstacle, Verdict } from "./verdict-schemas.ts";
import { windowOf } from "./window.ts";

/** What decides; `now` is the block's time in Unix seconds. */
export type Facts = Pick<Evaluation, "policy" | "feed" | "isDue" | "fallen" | "sequencer" | "trigger"> & {
  readonly now: bigint;
};

function sequencerObstacle(now: bigint, sequencer: SequencerRow | undefined): Obstacle | undefined {
  if (!sequencer || (sequencer.up && sequencer.startedAt === 0n))
    return { code: "sequencer_unknown", message: "The sequencer's feed has no status.", until: null };
  if (!sequencer.up)
    return { code: "sequencer_down", message: "The chain's sequencer is down.", until: null };
  const until = sequencer.startedAt + BigInt(SEQUENCER_GRACE) + 1n;
  const message = "The chain's sequencer came back less than an hour ago.";
  return now < until ? { code: "sequencer_grace", message, until: String(until) } : undefined;
}

/** What stops every trigger of the policy at the block, whatever the prices are. */
export function obstaclesOf({ now, policy, sequencer }: Facts): Obstacle[] {
  const tooSmall: Obstacle = {
    code: "payout_too_small",
    message: "The payout is below one dollar, and a bond is a dollar at least.",
    until: null,
  };
  return [sequencerObstacle(now, sequencer), policy.payout < MINIMUM_PAYOUT ? tooSmall : undefined].filter(
    (obstacle) => obstacle !== undefined,
  );
}

function triggeredVerdict({ event, submitter, earlierRounds }: TriggerRow): Verdict {
  return {
    code: "triggered",
    message: `The policy was paid with a bond of ${event.bondAmount} dollars.`,
    submitter: submitter && getAddress(submitter),
    bondId: decimalOrNull(event.bondEpochId),
    bondAmount: String(event.bondAmount),
    reason: event.reason,
    provenBy: earlierRounds?.length === CONFIRMATIONS ? earlierRounds : null,
    ...positionBody(event),
  };
}

function dueVerdict({ policy }: Facts, rounds: readonly FallenRound[], expiresAt: bigint): Verdict {
  return {
    code: "due",
    message: "A trigger submitted now would be paid.",
    ...proofBody(rounds, expiresAt),
    claim: claimOf(policy),
  };
}

function expiredVerdict(closedAt: bigint | null, met: boolean): Verdict {
  const message = met
    ? "Three rounds counted within the window, and the policy was not triggered."
    : "Fewer than three rounds counted within the window.";
  return { code: "expired", message, met, closedAt: decimalOrNull(closedAt) };
}

type Missing = Extract<Verdict, { code: "unknown" }>["missing"];
const unknowns: Readonly<Record<Missing, string>> = {
  terms: "The index does not know the terms of the policy's product.",
  price: "The index does not know the asset's price at purchase.",
  rounds: "The index does not know the rounds of the feed's newest phase.",
};
const unknownVerdict = (missing: Missing): Verdict => ({
  code: "unknown",
  message: unknowns[missing],
  missing,
});

const counted = [
  "No round counts so far.",
  "One of three rounds counts so far.",
  "Two of three rounds count so far.",
];

/** The verdict on an open policy that is not due, of a known window. */
function openVerdict(facts: Facts, rounds: readonly FallenRound[]): Verdict {
  const { now } = facts;
  if (rounds.length < CONFIRMATIONS) {
    const missing = CONFIRMATIONS - rounds.length;
    return { code: "not_met", message: counted[rounds.length] ?? "", missing };
  }
  const fresh = freshUntil(rounds);
  if (now > fresh) {
    const message = "Three rounds count, but the newest is more than an hour old.";
    return { code: "met_but_stale", message, freshUntil: String(fresh) };
  }
  const reasons = obstaclesOf(facts).map(({ message }) => message);
  return {
    code: "blocked",
    message: ["Three rounds count, but no trigger is paid now.", ...reasons].join(" "),
    freshUntil: String(fresh),
  };
}

/** The verdict at a block. `isDue` comes from the query that finds all due policies; the rest explains. */
export function verdictOf(facts: Facts): Verdict {
  const { now, policy, feed, isDue, trigger } = facts;
  if (trigger) return triggeredVerdict(trigger);
  const window = windowOf(policy);
  if (!window) return unknownVerdict(policy.expiresAt === null ? "terms" : "price");
  const rounds = toFallenRounds(facts.fallen);
  const isMet = rounds.length === CONFIRMATIONS;
  if (!isMet && (feed?.roundId ?? null) === null) return unknownVerdict("rounds");
  if (now > window.expiresAt) return expiredVerdict(policy.markedExpiredAt, isMet);
  return isDue ? dueVerdict(facts, rounds, window.expiresAt) : openVerdict(facts, rounds);
}
