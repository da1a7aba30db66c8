/** What became of a policy, and whether somebody could have triggered it. */
import type { NeverPayableReason } from "../../../lib/keeper-audit.ts";
import { MINIMUM_PAYOUT } from "../../../lib/price-rules.ts";
import type { BlockClock } from "../from-chain/block-clock.ts";
import type { CoveredPolicy, History } from "../from-chain/history.ts";
import { lastChance, metAfter, payableSpans, type Span } from "../from-chain/payable.ts";
import { type Downtime, outside } from "./downtime.ts";

/** The first and the last block in which a trigger would have been paid. */
export type PayableBlocks = { readonly first: bigint; readonly last: bigint };

export type Verdict =
  | { readonly is: "triggered" }
  /** A trigger could have been mined in some block, and nobody sent one. */
  | { readonly is: "missed"; readonly payable: PayableBlocks }
  /** The same, and each of those blocks lies in the service's downtime. */
  | { readonly is: "missed_while_down"; readonly payable: PayableBlocks }
  | { readonly is: "never_payable"; readonly reason: NeverPayableReason }
  /** The window ended without three rounds at or below the trigger price. */
  | { readonly is: "not_met" }
  /** The window has not ended. */
  | { readonly is: "open" };

type Clock = Pick<BlockClock, "timeOf" | "blocksIn">;

/** The first block of all spans; undefined when they have none. */
async function firstOf(spans: readonly Span[], clock: Clock): Promise<bigint | undefined> {
  for (const span of spans) {
    const blocks = await clock.blocksIn(span);
    if (blocks) return blocks.from;
  }
  return undefined;
}

async function lastOf(spans: readonly Span[], clock: Clock): Promise<bigint | undefined> {
  for (const span of [...spans].reverse()) {
    const blocks = await clock.blocksIn(span);
    if (blocks) return blocks.to;
  }
  return undefined;
}

/** Why a policy that was met after the block `met` was payable in no block. */
async function reasonOf(
  policy: CoveredPolicy,
  history: History,
  met: bigint,
  clock: Clock,
): Promise<NeverPayableReason> {
  if (policy.payout < BigInt(MINIMUM_PAYOUT)) return "payout_too_small";
  const lastBlock = lastChance(policy, history);
  const left = { firstBlock: met + 1n, lastBlock, notBefore: 0n, notAfter: policy.terms.endsAt };
  if ((await firstOf([left], clock)) === undefined) return "last_block";
  const spans = payableSpans(policy, history, { ignoreSequencer: true });
  return (await firstOf(spans, clock)) === undefined ? "stale" : "sequencer_down";
}

/**
 * Judges a policy by the history, which has all its rounds and reaches beyond its window, or up to the present. The same history
 * gives the same verdict. Rejects when the clock does.
 *
 * @param downtime times in which the service was down
 */
export async function judge(
  policy: CoveredPolicy,
  history: History,
  clock: Clock,
  downtime: readonly Downtime[] = [],
): Promise<Verdict> {
  const { closing, terms } = policy;
  if (closing?.by === "triggered") return { is: "triggered" };
  if (!closing && (await clock.timeOf(history.lastBlock)) <= terms.endsAt) return { is: "open" };
  const notMet: Verdict = { is: "not_met" };
  const met = metAfter(policy, history);
  if (met === undefined || met > history.lastBlock || (await clock.timeOf(met)) > terms.endsAt) return notMet;
  if (closing && met >= closing.block) return notMet;
  const spans = payableSpans(policy, history);
  const first = await firstOf(spans, clock);
  const last = first === undefined ? undefined : await lastOf(spans, clock);
  if (first === undefined || last === undefined) {
    return { is: "never_payable", reason: await reasonOf(policy, history, met, clock) };
  }
  const up = spans.flatMap((span) => outside(span, downtime));
  const whileUp = await firstOf(up, clock);
  return { is: whileUp === undefined ? "missed_while_down" : "missed", payable: { first, last } };
}
