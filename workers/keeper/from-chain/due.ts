/** Which policies are due, from the chain alone: slowly, but without the index. */
import { sequencerStatusAt } from "../../../lib/chain/sequencer-status.ts";
import type { DuePolicy } from "../../../lib/indexed/due.ts";
import { lastMomentOf, OBSERVATION_INTERVAL, OBSERVATIONS } from "../../../lib/price-rules.ts";
import type { BlockClock } from "./cover-chain.ts";
import { type CoverChain, type Moment, readUpTo } from "./cover-chain.ts";
import { type CoveredPolicy, type History, isBefore, newestAt, observableTimes } from "./history.ts";
import { longestDuration, scanPolicies } from "./read-policies.ts";
import { firstBlocks, readRounds } from "./read-rounds.ts";

/** Whether a policy can be observed in the block after the history's last one, at the time `now`. */
async function isDue(
  { terms, closing, observations }: CoveredPolicy,
  { rounds, sequencer, lastBlock }: History,
  now: bigint,
  clock: Pick<BlockClock, "timeOf">,
): Promise<boolean> {
  const answered = rounds.get(terms.feed) ?? [];
  const round = newestAt(answered, lastBlock);
  const times = observableTimes(terms, round, newestAt(sequencer, lastBlock)?.value);
  if (closing || !round || !times || now < times.notBefore || now > times.notAfter) return false;
  const last = observations.at(-1);
  if (!last || last.count === 0) return true;
  const observed = answered.findLast((one) => isBefore(one, last));
  if (observed && round.updatedAt <= observed.updatedAt) return false;
  return now >= (await clock.timeOf(last.block)) + BigInt(OBSERVATION_INTERVAL);
}

function dueOf({ productId, policyId, adapter, buyer, terms, observations }: CoveredPolicy): DuePolicy {
  const last = observations.at(-1);
  const count = last?.count ?? 0;
  const expiresAt = terms.endsAt;
  return {
    ...{ productId, policyId, shield: adapter, buyer, expiresAt, observation: count + 1 },
    lastMoment: lastMomentOf(expiresAt, count),
    changedIn: last?.block ?? null,
  };
}

/** Third observations first, then by the last moment, as `readDue`. */
const byUrgency = (a: DuePolicy, b: DuePolicy): number =>
  Number(a.observation < OBSERVATIONS) - Number(b.observation < OBSERVATIONS) ||
  Number(a.lastMoment - b.lastMoment) ||
  a.productId.localeCompare(b.productId) ||
  Number(a.policyId - b.policyId);

/** The policies among these that can be observed in the block after the history's last one, at `now`, in the order of `readDue`. */
export async function duePolicies(
  policies: readonly CoveredPolicy[],
  history: History,
  now: bigint,
  clock: Pick<BlockClock, "timeOf">,
): Promise<DuePolicy[]> {
  const are = await Promise.all(policies.map((policy) => isDue(policy, history, now, clock)));
  return policies
    .filter((_, index) => are[index])
    .map(dueOf)
    .sort(byUrgency);
}

/** The due policies, the most urgent first, and the block that they belong to. */
export type DueFromChain = { readonly head: Moment & { chainId: number }; readonly policies: DuePolicy[] };

async function readDueAt(chain: CoverChain, head: Moment, clock: BlockClock): Promise<DuePolicy[]> {
  const { sequencerFeed } = chain.deployment.contracts;
  const status = await sequencerStatusAt(chain.clients.reads, sequencerFeed, head.number);
  if (!status?.up) return [];
  const longest = longestDuration(chain.deployment);
  const first = await firstBlocks(chain, clock, { longest, time: head.timestamp, last: head.number });
  const { policies } = await scanPolicies(chain, { from: first.policies, to: head.number });
  const open = policies.filter(({ closing, terms }) => !closing && terms.endsAt >= head.timestamp);
  const feeds = [...new Set(open.map(({ terms }) => terms.feed))];
  const rounds = await readRounds(chain, feeds, {
    ...{ from: first.rounds, to: head.number, hasOldStates: false },
  });
  const sequencer = [{ block: 0n, value: status }];
  return duePolicies(open, { lastBlock: head.number, rounds, sequencer }, head.timestamp, clock);
}

/**
 * Reads which policies can be observed in the block after the newest one, as `readDue` does from the index: for a keeper whose index
 * is away, behind, or without a feed's new phase. Reads the logs of the products' longest duration, and of registrations; the node
 * needs the newest state only.
 * @throws ReorganisedError, and as `scanEvents`; also rejects when the node does not answer
 */
export const dueFromChain = (chain: CoverChain): Promise<DueFromChain> =>
  readUpTo(chain, undefined, async (head, clock) => ({
    head: { ...head, chainId: chain.deployment.chainId },
    policies: await readDueAt(chain, head, clock),
  }));
