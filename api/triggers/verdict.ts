/** Why a policy was paid, is due, or is not: decided from what the index knows at a block. */
import { getAddress } from "viem";
import {
  DWELL,
  FEED_TO_PRICE,
  lastMomentOf,
  MAX_PRICE_AGE,
  OBSERVATION_INTERVAL,
  SEQUENCER_GRACE,
} from "../../lib/price-rules.ts";
import { claimOf } from "../chain/policy-body.ts";
import { decimalOrNull } from "../http/field-types.ts";
import { positionBody } from "../indexed/event-position.ts";
import type { Evaluation, SequencerRow, TriggerRow } from "./evaluation-queries.ts";
import type { Obstacle, Verdict } from "./verdict-schemas.ts";
import { lastObservation, type Window, windowOf } from "./window.ts";

/** What decides; `now` is the block's time in Unix seconds. */
export type Facts = Pick<Evaluation, "policy" | "feed" | "isDue" | "sequencer" | "trigger"> & {
  readonly now: bigint;
};

function sequencerObstacle(now: bigint, sequencer: SequencerRow | undefined): Obstacle | undefined {
  if (!sequencer)
    return { code: "sequencer_unknown", message: "The sequencer's feed has no status.", until: null };
  if (!sequencer.up)
    return { code: "sequencer_down", message: "The chain's sequencer is down.", until: null };
  const until = sequencer.startedAt + BigInt(SEQUENCER_GRACE) + 1n;
  const message = "The chain's sequencer came back less than an hour ago.";
  return now < until ? { code: "sequencer_grace", message, until: String(until) } : undefined;
}

/** Lists what stops every observation of the policy at the block, whatever the prices are. */
export function obstaclesOf({ now, sequencer }: Pick<Facts, "now" | "sequencer">): Obstacle[] {
  const obstacle = sequencerObstacle(now, sequencer);
  return obstacle ? [obstacle] : [];
}

const triggeredVerdict = ({ event, submitter }: TriggerRow): Verdict => ({
  code: "triggered",
  message: `The policy was paid with a bond of ${event.bondAmount} dollars.`,
  submitter: getAddress(submitter),
  bondId: decimalOrNull(event.bondEpochId),
  bondAmount: String(event.bondAmount),
  reason: event.reason,
  ...positionBody(event),
});

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

/** The verdict on an open policy that cannot be observed now. */
function openVerdict({ now, policy, feed, sequencer }: Facts, window: Window): Verdict {
  const observation = policy.observations + 1;
  const dwell = window.coverFrom + BigInt(DWELL);
  const last = lastObservation(policy);
  const next = last === null ? dwell : last + BigInt(OBSERVATION_INTERVAL);
  if ((now > next ? now : next) > lastMomentOf(window.expiresAt, policy.observations))
    return { code: "lost", message: "Too little of the cover is left for three observations." };
  if (now < dwell) {
    const message = "The policy was bought less than 300 seconds ago: no price counts yet.";
    return { code: "dwell", message, from: String(dwell) };
  }
  if (!feed || feed.answer === null || feed.updatedAt === null) return unknownVerdict("rounds");
  if (feed.answer <= 0n) return { code: "not_met", message: "The feed's newest answer is no price." };
  if (feed.answer * FEED_TO_PRICE > window.triggerPrice)
    return { code: "not_met", message: "The price is above the trigger price." };
  const freshUntil = feed.updatedAt + BigInt(MAX_PRICE_AGE);
  if (now > freshUntil) {
    const message = "The price is low enough, and older than an hour.";
    return { code: "stale", message, freshUntil: String(freshUntil) };
  }
  const [obstacle] = obstaclesOf({ now, sequencer });
  if (obstacle) {
    const message = `The price is low enough, but nothing is observed now. ${obstacle.message}`;
    return { code: "blocked", message, observation };
  }
  if (policy.observedRound !== null && feed.updatedAt <= policy.observedRound) {
    const message = "The feed's newest round is observed already: the next observation needs a newer one.";
    return { code: "waits_for_round", message, observation };
  }
  const message = "The observation before was made less than 60 seconds ago.";
  return { code: "waits_for_time", message, observation, from: String(next) };
}

/** The verdict at a block. `isDue` comes from the query that finds all due policies; the rest explains. */
export function verdictOf(facts: Facts): Verdict {
  const { now, policy, isDue, trigger } = facts;
  if (trigger) return triggeredVerdict(trigger);
  const window = windowOf(policy);
  if (!window) return unknownVerdict(policy.expiresAt === null ? "terms" : "price");
  if (now > window.expiresAt) {
    const message = "The cover ended without three observations.";
    return { code: "expired", message, closedAt: decimalOrNull(policy.markedExpiredAt) };
  }
  if (!isDue) return openVerdict(facts, window);
  return {
    code: "due",
    message: "A call now makes the next observation; the third pays.",
    observation: policy.observations + 1,
    observedAt: decimalOrNull(lastObservation(policy)),
    observeUntil: String(lastMomentOf(window.expiresAt, policy.observations)),
    claim: claimOf(policy),
  };
}
