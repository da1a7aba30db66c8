/** Reads when the global pause was on, and the status of the sequencer, over a range of blocks. */
import type { Address } from "viem";
import { globalPauseRegistryAbi } from "../../../abis/GlobalPauseRegistry.ts";
import { isRefusal } from "../../../lib/chain/feed-phases.ts";
import type { BlockRange } from "../../../lib/chain/log-scan.ts";
import { findRevert, isEmptyAnswer } from "../../../lib/chain/reverts.ts";
import { type SequencerStatus, sequencerStatusAt } from "../../../lib/chain/sequencer-status.ts";
import type { CoverChain } from "./cover-chain.ts";
import type { Change, History } from "./history.ts";
import { readAggregators, scanFeedLogs } from "./read-rounds.ts";
import { scanEvents } from "./scan-events.ts";

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

async function isPausedAt({ clients, deployment }: CoverChain, blockNumber: bigint): Promise<boolean> {
  try {
    return await clients.reads.readContract({
      address: deployment.contracts.pauseRegistry,
      abi: globalPauseRegistryAbi,
      functionName: "isGloballyPaused",
      blockNumber,
    });
  } catch (error) {
    if (isEmptyAnswer(error) || findRevert(error)) return false; // the registry was created later
    throw error;
  }
}

async function scanPauses(chain: CoverChain, range: BlockRange): Promise<Change<boolean>[]> {
  const address = [chain.deployment.contracts.pauseRegistry];
  const events = { abi: globalPauseRegistryAbi, names: ["GlobalPauseToggled"], address } as const;
  const found = await scanEvents(chain, events, range);
  return found.map(({ args, blockNumber }) => ({ block: blockNumber, value: args.paused }));
}

/** The pause before the range: by the state; on a node without it, by the first change, or the present. */
async function pausedBefore(
  chain: CoverChain,
  { from, to }: BlockRange,
  [first]: readonly Change<boolean>[],
): Promise<boolean> {
  if (from === 0n) return false;
  const old = await oldState(() => isPausedAt(chain, from - 1n));
  if (old) return old.value;
  if (first) return !first.value;
  const present = (await oldState(() => isPausedAt(chain, to)))?.value;
  if (present !== undefined) return present;
  chain.warn(`the node has no old state: the global pause counts as off before block ${to}`);
  return false;
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

/** Reads pauses and statuses. Rejects when the node does not answer. @throws as {@link scanEvents} */
export async function readConditions(
  chain: CoverChain,
  range: BlockRange,
): Promise<Pick<History, "pause" | "sequencer">> {
  const feed = chain.deployment.contracts.sequencerFeed;
  const aggregators = await readAggregators(chain, feed);
  const sources = [...new Set(aggregators.map(({ aggregator }) => aggregator))];
  const pauses = await scanPauses(chain, range);
  const { answers } = await scanFeedLogs(chain, sources, range);
  // In the uptime feeds of Optimism and Base the event's last argument is the start of the status.
  const statuses = answers.map(({ block, answer, updatedAt }) => ({
    block,
    value: { up: answer === 0n, startedAt: updatedAt },
  }));
  const before = range.from - 1n;
  return {
    pause: [{ block: before, value: await pausedBefore(chain, range, pauses) }, ...pauses],
    sequencer: [{ block: before, value: await statusBefore(chain, feed, range, statuses) }, ...statuses],
  };
}

/** The pause and the status in the state after one block. Rejects when the node does not answer, or lacks the state. */
export async function readConditionsAt(
  chain: CoverChain,
  block: bigint,
): Promise<Pick<History, "pause" | "sequencer">> {
  const [paused, status] = await Promise.all([
    isPausedAt(chain, block),
    sequencerStatusAt(chain.clients.reads, chain.deployment.contracts.sequencerFeed, block),
  ]);
  return { pause: [{ block: 0n, value: paused }], sequencer: [{ block: 0n, value: status }] };
}
