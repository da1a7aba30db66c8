/** What became of a policy, and whether somebody could have had it paid. */

import type { BlockRange } from "../../../lib/chain/log-scan.ts";
import { ALWAYS_UP } from "../../../lib/chain/sequencer-status.ts";
import { OBSERVATION_INTERVAL, OBSERVATIONS } from "../../../lib/price-rules.ts";
import { greater, smaller } from "../../common/bigints.ts";
import type { BlockClock, Span } from "../from-chain/cover-chain.ts";
import {
  type CoveredPolicy,
  type History,
  newestAt,
  observableTimes,
  type Round,
  type Times,
} from "../from-chain/history.ts";

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

export type Clock = Pick<BlockClock, "timeOf" | "blocksIn">;

/** The first and the last block in which the third observation could have been made, the one that pays, and all such blocks. */
export type PayableBlocks = {
  readonly first: bigint;
  readonly last: bigint;
  /** In rising order, from the first block to the last. */
  readonly ranges: readonly BlockRange[];
};

/** Blocks in which a call could observe, with the feed's rounds before and after each of them. */
type ObservableSpan = Span & { readonly before: Round; readonly after: Round };

export type ReplayOptions = {
  /** The blocks in which somebody else reset the observations. */
  readonly resets?: readonly bigint[];
  /** Takes the sequencer for up, to find out whether it prevented the observations. */
  readonly ignoreSequencer?: boolean;
};

type State = { readonly block: bigint; readonly round: Round | undefined; readonly times: Times | undefined };

/** The last block of the history in which the policy could be paid, if its window lasts so long. */
const lastChance = ({ closing }: CoveredPolicy, { lastBlock }: History): bigint =>
  closing?.by === "replaced" ? smaller(closing.block - 1n, lastBlock) : lastBlock;

/** In rising order. Feed and sequencer change in the blocks between two spans, which are spans of their own; so are resets. */
function observableSpans(
  policy: CoveredPolicy,
  history: History,
  { resets, ignoreSequencer }: Required<ReplayOptions>,
): ObservableSpan[] {
  const { terms, soldIn } = policy;
  const rounds = history.rounds.get(terms.feed) ?? [];
  const last = lastChance(policy, history);
  const stateAfter = (block: bigint): State => {
    const round = newestAt(rounds, block);
    const status = ignoreSequencer ? ALWAYS_UP : newestAt(history.sequencer, block)?.value;
    return { block, round, times: observableTimes(terms, round, status) };
  };
  const changes = [...rounds, ...history.sequencer].map(({ block }) => block).concat(resets);
  const blocks = new Set(changes.filter((block) => block > soldIn && block <= last));
  const states = [soldIn, ...[...blocks].sort((a, b) => (a < b ? -1 : 1))].map(stateAfter);
  return states.flatMap((state, index): ObservableSpan[] => {
    const next = states[index + 1];
    const { round, times } = state;
    if (!round || !times) return [];
    const until = { firstBlock: state.block + 1n, lastBlock: next ? next.block - 1n : last };
    const spans = [{ ...until, ...times, before: round, after: round }];
    if (next?.round && next.times) {
      const both = {
        notBefore: greater(times.notBefore, next.times.notBefore),
        notAfter: smaller(times.notAfter, next.times.notAfter),
      };
      const edge = { firstBlock: next.block, lastBlock: next.block };
      spans.push({ ...edge, ...both, before: round, after: next.round });
    }
    return spans;
  });
}

/**
 * When three observations could have been made first: each at the first chance, of newer rounds, a minute apart. Undefined when they
 * could not. The same history gives the same answer. Rejects when the clock does.
 */
export async function replay(
  policy: CoveredPolicy,
  history: History,
  clock: Clock,
  { resets = [], ignoreSequencer = false }: ReplayOptions = {},
): Promise<PayableBlocks | undefined> {
  const spans = observableSpans(policy, history, { resets, ignoreSequencer });
  const resetSince = (block: bigint, before: bigint) =>
    resets.some((reset) => reset >= block && reset < before);
  let count = 0;
  let observed = { block: 0n, time: 0n, roundTime: 0n };
  for (const [index, span] of spans.entries()) {
    if (resetSince(observed.block, span.firstBlock)) count = 0;
    if (count > 0 && span.before.updatedAt <= observed.roundTime) continue;
    const soonest = count === 0 ? 0n : observed.time + BigInt(OBSERVATION_INTERVAL);
    const blocks = await clock.blocksIn({ ...span, notBefore: greater(span.notBefore, soonest) });
    if (!blocks) continue;
    const block = blocks.from;
    count += 1;
    observed = { block, time: await clock.timeOf(block), roundTime: span.after.updatedAt };
    if (count < OBSERVATIONS) continue;
    const ranges: BlockRange[] = [blocks];
    for (const later of spans.slice(index + 1)) {
      if (resetSince(block, later.firstBlock)) break;
      const found = await clock.blocksIn(later);
      if (found) ranges.push(found);
    }
    return { first: block, last: ranges.at(-1)?.to ?? blocks.to, ranges };
  }
  return undefined;
}
