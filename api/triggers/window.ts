/** The window in which a policy's prices count, and what each round of its feed is to it. */
import { FEED_TO_PRICE } from "../../lib/price-rules.ts";
import type { oracleRound, policy } from "../../ponder.schema.ts";

export type PolicyRow = typeof policy.$inferSelect;

/** Prices count from the purchase, `coverFrom`, to `expiresAt` (Unix seconds, both included), at or below `triggerPrice` (18 decimals). */
export type Window = {
  readonly coverFrom: bigint;
  readonly expiresAt: bigint;
  readonly triggerPrice: bigint;
};

/** A policy's window; null where the index does not know the product's terms or the price at purchase. */
export const windowOf = ({
  createdAt,
  expiresAt,
  triggerPrice,
}: Pick<PolicyRow, "createdAt" | "expiresAt" | "triggerPrice">): Window | null =>
  expiresAt === null || triggerPrice === null ? null : { coverFrom: createdAt, expiresAt, triggerPrice };

/** When a policy was last observed, Unix seconds; null without an observation since the last reset. */
export const lastObservation = ({
  observations,
  observedAt,
}: Pick<PolicyRow, "observations" | "observedAt">): bigint | null => (observations === 0 ? null : observedAt);

/** What a round is to a policy, with the meanings of the document. */
export const roundVerdicts = {
  counts: "in the window, and at or below the trigger price: it can be observed while it is the newest",
  above_trigger_price: "in the window, and above the trigger price",
  before_window: "before the purchase",
  after_window: "after the cover's end",
  phase_not_begun: "from an aggregator that the feed does not ask yet, or did not before the cover's end",
  invalid: "not above zero: the shield takes no such price",
} as const;
export type RoundVerdict = keyof typeof roundVerdicts;

const isVerdict = (text: string): text is RoundVerdict => text in roundVerdicts;
export const roundVerdictCodes: readonly RoundVerdict[] = Object.keys(roundVerdicts).filter(isVerdict);

/** Judges a round by the shield's rules. `phase` is the last one that the feed has begun by the cover's end. */
export function roundVerdict(
  round: Pick<typeof oracleRound.$inferSelect, "answer" | "updatedAt" | "phase">,
  { coverFrom, expiresAt, triggerPrice }: Window,
  phase: number,
): RoundVerdict {
  if (round.answer <= 0n) return "invalid";
  if (round.phase > phase) return "phase_not_begun";
  if (round.updatedAt < coverFrom) return "before_window";
  if (round.updatedAt > expiresAt) return "after_window";
  return round.answer * FEED_TO_PRICE <= triggerPrice ? "counts" : "above_trigger_price";
}
