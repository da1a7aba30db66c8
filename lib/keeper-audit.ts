/**
 * Why nobody could trigger a policy although three rounds in its window were at or below its trigger price:
 *
 * - `payout_too_small`: less than a dollar, for which there is no bond;
 * - `last_block`: the third round came in the last block within the window, so no block was left;
 * - `stale`: the newest of the rounds was older than an hour in every block that was left;
 * - `sequencer_down`: the sequencer was down, or up for less than an hour; otherwise it would have been paid;
 * - `paused`, `sequencer_down_and_paused`: never counted with release V5.4, where a pause stops purchases only.
 */
export const neverPayableReasons = [
  "sequencer_down",
  "paused",
  "sequencer_down_and_paused",
  "last_block",
  "stale",
  "payout_too_small",
] as const;
export type NeverPayableReason = (typeof neverPayableReasons)[number];
