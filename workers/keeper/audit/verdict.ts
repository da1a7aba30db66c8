/** What became of a policy, and whether somebody could have had it paid. */
import type { CoveredPolicy, History } from "../from-chain/history.ts";
import { type Clock, type PayableBlocks, type ReplayOptions, replay } from "./replay.ts";

/** The service was down from one second (Unix) to another, both inclusive. */
export type Downtime = { readonly from: bigint; readonly to: bigint };

export type Verdict =
  | { readonly is: "triggered" }
  /** Three observations could have been made, and the policy was not paid. */
  | { readonly is: "missed"; readonly payable: PayableBlocks }
  /** The same, and the service was down when the third could have been made first. */
  | { readonly is: "missed_while_down"; readonly payable: PayableBlocks }
  /** Three could have been made but for the sequencer. */
  | { readonly is: "sequencer_down" }
  /** The price fell too briefly for three observations, or not at all. */
  | { readonly is: "not_met" }
  /** The window has not ended. */
  | { readonly is: "open" };

/**
 * Judges a policy by the history, which has all its rounds and reaches beyond its window, or up to the present. The same history
 * gives the same verdict. Rejects when the clock does.
 */
export async function judge(
  policy: CoveredPolicy,
  history: History,
  clock: Clock,
  {
    resets = [],
    downtime = [],
  }: Pick<ReplayOptions, "resets"> & { readonly downtime?: readonly Downtime[] } = {},
): Promise<Verdict> {
  const { closing, terms } = policy;
  if (closing?.by === "triggered") return { is: "triggered" };
  if (!closing && (await clock.timeOf(history.lastBlock)) <= terms.endsAt) return { is: "open" };
  const payable = await replay(policy, history, clock, { resets });
  if (!payable) {
    const otherwise = await replay(policy, history, clock, { resets, ignoreSequencer: true });
    return { is: otherwise ? "sequencer_down" : "not_met" };
  }
  const time = await clock.timeOf(payable.first);
  const isDown = downtime.some(({ from, to }) => from <= time && time <= to);
  return { is: isDown ? "missed_while_down" : "missed", payable };
}
