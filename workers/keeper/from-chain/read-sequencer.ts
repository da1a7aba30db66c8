/** Reads the status of the sequencer over a range of blocks. */
import { type Address, zeroAddress } from "viem";
import { isRefusal } from "../../../lib/chain/feed-phases.ts";
import type { BlockRange } from "../../../lib/chain/log-scan.ts";
import { ALWAYS_UP, type SequencerStatus, sequencerStatusAt } from "../../../lib/chain/sequencer-status.ts";
import type { CoverChain } from "./cover-chain.ts";
import type { Change, History } from "./history.ts";
import { readAggregators, scanFeedLogs } from "./read-rounds.ts";

/** What an old state says, or that the node lacks it. */
type OldState<T> = { readonly value: T } | undefined;

async function oldState<T>(read: () => Promise<T>): Promise<OldState<T>> {
  try {
    return { value: await read() };
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/** The sequencer's status before the range; undefined when nobody can tell. */
async function statusBefore(
  chain: CoverChain,
  feed: Address,
  { from, to }: BlockRange,
  changes: readonly Change<SequencerStatus | undefined>[],
): Promise<SequencerStatus | undefined> {
  const { reads } = chain.clients;
  if (from === 0n) return undefined;
  const old = await oldState(() => sequencerStatusAt(reads, feed, from - 1n));
  if (old) return old.value;
  if (changes.length === 0) {
    const present = await oldState(() => sequencerStatusAt(reads, feed, to));
    if (present) return present.value;
  }
  const [newest, block] = await Promise.all([
    sequencerStatusAt(reads, feed),
    reads.getBlock({ blockNumber: from }),
  ]);
  // Uptime feeds report only changes: a status that began earlier has held since.
  if (newest && newest.startedAt <= block.timestamp) return newest;
  chain.warn(
    `the node has no old state: the sequencer's status is unknown before ${changes[0] ? `block ${changes[0].block}` : "now"}`,
  );
  return undefined;
}

/** Reads the statuses. Rejects when the node does not answer. @throws as `scanEvents` */
export async function readSequencer(chain: CoverChain, range: BlockRange): Promise<History["sequencer"]> {
  const feed = chain.deployment.contracts.sequencerFeed;
  const before = range.from - 1n;
  if (feed === zeroAddress) return [{ block: before, value: ALWAYS_UP }];
  const aggregators = await readAggregators(chain, feed);
  const sources = [...new Set(aggregators.map(({ aggregator }) => aggregator))];
  const { answers } = await scanFeedLogs(chain, sources, range);
  // In the uptime feeds of Optimism and Base the event's last argument is the start of the status.
  const statuses = answers.map(({ block, answer, updatedAt }) => ({
    block,
    value: { up: answer === 0n, startedAt: updatedAt },
  }));
  return [{ block: before, value: await statusBefore(chain, feed, range, statuses) }, ...statuses];
}
