/** Reads the rounds of price feeds, and the status of the sequencer, over a range of blocks, from logs. */

import { type Address, zeroAddress } from "viem";
import { priceAggregatorAbi } from "../../../abis/PriceAggregator.ts";
import { priceFeedProxyAbi } from "../../../abis/PriceFeedProxy.ts";
import { isRefusal, phaseAggregators, phaseAt, phaseStarts } from "../../../lib/chain/feed-phases.ts";
import type { BlockRange } from "../../../lib/chain/log-scan.ts";
import { ALWAYS_UP, type SequencerStatus, sequencerStatusAt } from "../../../lib/chain/sequencer-status.ts";
import { lower } from "../../../lib/lower.ts";
import { MAX_PRICE_AGE } from "../../../lib/price-rules.ts";
import type { BlockClock, CoverChain } from "./cover-chain.ts";
import type { Change, History, Position, Round } from "./history.ts";
import { scanEvents } from "./read-policies.ts";

/**
 * The block from which policies may be open at a time (Unix seconds), and the one from which rounds may count for them: a round may
 * be logged before a purchase if it is dated ahead, by less than an hour.
 */
export async function firstBlocks(
  { deployment }: CoverChain,
  clock: BlockClock,
  { longest, time, last }: { longest: bigint; time: bigint; last: bigint },
): Promise<{ policies: bigint; rounds: bigint }> {
  const start = BigInt(deployment.startBlock);
  const closed = await clock.lastAt(time - longest - 1n, { from: start, to: last });
  const policies = closed === undefined ? start : closed + 1n;
  if (policies > last) return { policies, rounds: last };
  const sold = await clock.timeOf(policies);
  const earlier = await clock.lastAt(sold - BigInt(MAX_PRICE_AGE), { from: 0n, to: policies });
  return { policies, rounds: earlier ?? 0n };
}

/** A phase of a feed, which answers from its aggregator since then. Phase 0 is a feed without phases. */
export type Phase = { readonly phase: number; readonly aggregator: Address; readonly since: Position };

/** An answer that an aggregator (lower case) logged, with 8 decimals. */
export type Answer = Position & {
  readonly aggregator: Address;
  readonly answer: bigint;
  readonly updatedAt: bigint;
};

/** A new aggregator that a proxy announced. */
type Announcement = Position & { readonly proxy: Address; readonly latest: Address };

const before = (block: bigint): Position => ({ block, logIndex: -1 });

const feedAbi = [...priceAggregatorAbi, ...priceFeedProxyAbi] as const;

/** The answers and announcements of these contracts in a range, in the order of the chain. @throws as {@link scanEvents} */
export async function scanFeedLogs(
  chain: CoverChain,
  address: readonly Address[],
  range: BlockRange,
): Promise<{ answers: Answer[]; announcements: Announcement[] }> {
  const names = ["AnswerUpdated", "AggregatorConfirmed"] as const;
  const answers: Answer[] = [];
  const announcements: Announcement[] = [];
  for (const log of await scanEvents(chain, { abi: feedAbi, names, address }, range)) {
    const { blockNumber: block, logIndex } = log;
    const source = lower(log.address);
    if (log.eventName === "AggregatorConfirmed") {
      announcements.push({ proxy: source, latest: lower(log.args.latest), block, logIndex });
    } else {
      const { current: answer, updatedAt } = log.args;
      answers.push({ aggregator: source, block, logIndex, answer, updatedAt });
    }
  }
  return { answers, announcements };
}

/** The rounds that a feed has answered, one after the other: its aggregator's, and at a new phase that aggregator's newest. */
export function roundsOf(phases: readonly Phase[], answers: readonly Answer[]): Round[] {
  const begins = phases.map(({ aggregator, since }) => ({
    ...since,
    aggregator,
    begins: true,
    answer: 0n,
    updatedAt: 0n,
  }));
  const logs = [...begins, ...answers.map((answer) => ({ ...answer, begins: false }))];
  logs.sort((a, b) => Number(a.block - b.block) || a.logIndex - b.logIndex);
  const newest = new Map<Address, { price: bigint; updatedAt: bigint }>();
  let current: Address | undefined;
  return logs.flatMap(({ block, logIndex, aggregator, begins, answer, updatedAt }) => {
    if (begins) current = aggregator;
    else newest.set(aggregator, { price: answer, updatedAt });
    if (aggregator !== current) return [];
    return [{ block, logIndex, ...(newest.get(aggregator) ?? { price: 0n, updatedAt: 0n }) }];
  });
}

type Aggregators = Awaited<ReturnType<typeof phaseAggregators>>;

/** The feed's phases and their aggregators, addresses in lower case. */
export async function readAggregators({ clients }: CoverChain, feed: Address): Promise<Aggregators> {
  const found = await phaseAggregators(clients.reads, feed);
  return found.map(({ phase, aggregator }) => ({ phase, aggregator: lower(aggregator) }));
}

/**
 * When the phases of a feed begin: at the log of the proxy that announces the phase; without one, by the proxy's old states. A node
 * without old states gets the phase counted from the beginning, with a warning.
 */
async function datePhases(
  { clients: { reads }, warn }: CoverChain,
  feed: Address,
  aggregators: Aggregators,
  announcements: readonly Announcement[],
  { from, to, hasOldStates }: RoundRange,
): Promise<Phase[]> {
  const own = announcements.filter(({ proxy }) => proxy === lower(feed));
  const newest = hasOldStates ? undefined : await phaseAt(reads, feed, to);
  const phases = aggregators
    .filter(({ phase }) => phase <= (newest ?? phase))
    .map((one) => {
      // Nobody can buy from a feed before its first phase.
      if (one.phase <= 1) return { ...one, since: before(0n) };
      const log = own.findLast(({ latest }) => latest === one.aggregator);
      return { ...one, since: log ?? (hasOldStates ? undefined : before(0n)) };
    });
  const unknown = phases.filter(({ since }) => !since);
  if (unknown.length === 0) return phases.map((one) => ({ ...one, since: one.since ?? before(0n) }));
  const head = await reads.getBlockNumber();
  const starts = await phaseStarts(reads, feed, unknown, { firstBlock: from, head }, warn);
  return phases.map(({ since, ...one }) => {
    const start = starts[unknown.findIndex(({ phase }) => phase === one.phase)] ?? null;
    // A start is the block after the proxy's change. Null is a change after the range that was scanned.
    return { ...one, since: since ?? before(start === null ? head : BigInt(start) - 1n) };
  });
}

/** Without old states the phases that no log of the range announces count from the beginning: enough for the newest state. */
export type RoundRange = BlockRange & { readonly hasOldStates: boolean };

/**
 * Reads the rounds that these feeds answered in a range, by feed.
 * @throws as {@link scanEvents}; also rejects when the node does not answer
 */
export async function readRounds(
  chain: CoverChain,
  feeds: readonly Address[],
  range: RoundRange,
): Promise<Map<Address, Round[]>> {
  const listed = await Promise.all(
    feeds.map(async (feed) => ({ feed, aggregators: await readAggregators(chain, feed) })),
  );
  const sources = listed.flatMap(({ feed, aggregators }) => [
    feed,
    ...aggregators.map(({ aggregator }) => aggregator),
  ]);
  const { answers, announcements } = await scanFeedLogs(chain, [...new Set(sources)], range);
  const rounds = await Promise.all(
    listed.map(async ({ feed, aggregators }): Promise<[Address, Round[]]> => {
      const phases = await datePhases(chain, feed, aggregators, announcements, range);
      const own = new Set(phases.map(({ aggregator }) => aggregator));
      return [
        feed,
        roundsOf(
          phases,
          answers.filter(({ aggregator }) => own.has(aggregator)),
        ),
      ];
    }),
  );
  return new Map(rounds);
}

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
