/** Which policies are due, from the chain alone: slowly, but without the index. */
import { sequencerStatusAt } from "../../../lib/chain/sequencer-status.ts";
import type { DuePolicy } from "../../../lib/indexed/due.ts";
import type { BlockClock } from "./block-clock.ts";
import { type CoverChain, type Moment, readUpTo } from "./cover-chain.ts";
import { firstBlocks } from "./first-blocks.ts";
import type { CoveredPolicy, History } from "./history.ts";
import { isPayableNow, proofAfter } from "./payable.ts";
import { longestDuration, scanPolicies, withTerms } from "./read-policies.ts";
import { readCurrentRounds } from "./read-rounds.ts";

const byDeadline = (a: CoveredPolicy, b: CoveredPolicy): number =>
  Number(a.terms.endsAt - b.terms.endsAt) ||
  a.productId.localeCompare(b.productId) ||
  Number(a.policyId - b.policyId);

/** The policies among these that a trigger would pay at the history's last block, at `now`, by deadline, with their proofs. */
export function duePolicies(policies: readonly CoveredPolicy[], history: History, now: bigint): DuePolicy[] {
  return policies
    .filter((policy) => isPayableNow(policy, history, now))
    .sort(byDeadline)
    .map((policy) => ({
      productId: policy.productId,
      policyId: policy.policyId,
      buyer: policy.buyer,
      expiresAt: policy.terms.endsAt,
      rounds: proofAfter(policy, history, history.lastBlock) ?? [],
    }));
}

/** The due policies, those that expire first at the front, and the block that they belong to. */
export type DueFromChain = { readonly head: Moment & { chainId: number }; readonly policies: DuePolicy[] };

async function readDueAt(chain: CoverChain, head: Moment, clock: BlockClock): Promise<DuePolicy[]> {
  const { sequencerFeed } = chain.deployment.contracts;
  const status = await sequencerStatusAt(chain.clients.reads, sequencerFeed, head.number);
  if (!status?.up) return [];
  const longest = longestDuration(chain.deployment);
  const first = await firstBlocks(chain, clock, { longest, time: head.timestamp, last: head.number });
  const sold = await scanPolicies(chain, { from: first.policies, to: head.number });
  const open: CoveredPolicy[] = [];
  const unclosed = sold.filter(({ closing }) => !closing);
  for (const { terms, ...policy } of await withTerms(chain, unclosed, head.number)) {
    if (terms && terms.endsAt >= head.timestamp) open.push({ ...policy, terms });
  }
  const feeds = [...new Set(open.map(({ terms }) => terms.feed))];
  const rounds = await readCurrentRounds(chain, feeds, { from: first.rounds, to: head.number });
  return duePolicies(
    open,
    { lastBlock: head.number, rounds, sequencer: [{ block: 0n, value: status }] },
    head.timestamp,
  );
}

/**
 * Reads which policies `submitTrigger` would pay in the newest block, as `readDue` does from the index: for a keeper whose index is
 * away, behind, or without a feed's new phase. Reads the logs of the products' longest duration, and nothing older; the node
 * needs the newest state only.
 * @throws ReorganisedError, and as `scanEvents`; also rejects when the node does not answer
 */
export const dueFromChain = (chain: CoverChain): Promise<DueFromChain> =>
  readUpTo(chain, undefined, async (head, clock) => ({
    head: { ...head, chainId: chain.deployment.chainId },
    policies: await readDueAt(chain, head, clock),
  }));
