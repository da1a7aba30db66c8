/** Reads from the chain what the audit of a range of blocks needs. */
import type { Address } from "viem";
import type { BlockRange } from "../../../lib/chain/log-scan.ts";
import type { BlockClock } from "../from-chain/block-clock.ts";
import type { CoverChain } from "../from-chain/cover-chain.ts";
import { firstBlocks } from "../from-chain/first-blocks.ts";
import type { CoveredPolicy, History, Round, SoldPolicy } from "../from-chain/history.ts";
import { longestDuration, scanPolicies, withTerms } from "../from-chain/read-policies.ts";
import { readRounds } from "../from-chain/read-rounds.ts";
import { readSequencer } from "../from-chain/read-sequencer.ts";

export type AuditedHistory = {
  readonly history: History;
  /** The policies that ended in the range, or are open at its end. */
  readonly policies: readonly CoveredPolicy[];
  /** The policies that were triggered in the range; their terms do not matter. */
  readonly triggered: readonly SoldPolicy[];
  /** Policies that were sold in the range with unknown terms: of a product that the catalogue lacks. */
  readonly unknown: readonly SoldPolicy[];
};

/** Whether a policy counts in a range: it was closed in it, or its window ended in it or ends later. */
function isInRange({ closing }: SoldPolicy, endsAt: bigint, range: BlockRange, timeBefore: bigint): boolean {
  return closing?.by === "triggered" ? closing.block >= range.from : endsAt >= timeBefore;
}

/**
 * Reads the policies that ended in the range (triggered, or their window ended) or are open at its end, and the history
 * by which they are judged. Two adjacent ranges have each ended policy once.
 * @throws as `scanEvents`; also rejects when the node does not answer
 */
export async function readHistory(
  chain: CoverChain,
  range: BlockRange,
  clock: BlockClock,
): Promise<AuditedHistory> {
  // A window ends in the first block after its last second.
  const timeBefore = range.from === 0n ? 0n : await clock.timeOf(range.from - 1n);
  const longest = longestDuration(chain.deployment);
  const first = await firstBlocks(chain, clock, { longest, time: timeBefore, last: range.to });
  const found = (await scanPolicies(chain, { from: first.policies, to: range.to })).filter(
    ({ closing }) => !closing || closing.by === "expired" || closing.block >= range.from,
  );
  const triggered = found.filter(({ closing }) => closing?.by === "triggered");
  const unknown: SoldPolicy[] = [];
  const policies: CoveredPolicy[] = [];
  const others = found.filter(({ closing }) => closing?.by !== "triggered");
  for (const { terms, ...policy } of await withTerms(chain, others, range.to)) {
    if (!terms) {
      if (policy.soldIn >= range.from) unknown.push(policy);
    } else if (isInRange(policy, terms.endsAt, range, timeBefore)) policies.push({ ...policy, terms });
  }
  const feeds = [...new Set(policies.map(({ terms }) => terms.feed))];
  const read: BlockRange = { from: first.rounds, to: range.to };
  const [rounds, sequencer] =
    policies.length === 0
      ? [new Map<Address, Round[]>(), []]
      : await Promise.all([readRounds(chain, feeds, read), readSequencer(chain, read)]);
  return { history: { lastBlock: range.to, rounds, sequencer }, policies, triggered, unknown };
}
