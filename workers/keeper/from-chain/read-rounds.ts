/** Reads the rounds of price feeds from the logs of the aggregators behind them. */
import type { Address } from "viem";
import { priceAggregatorAbi } from "../../../abis/PriceAggregator.ts";
import { priceFeedProxyAbi } from "../../../abis/PriceFeedProxy.ts";
import { phaseAggregators, phaseAt, phaseStarts } from "../../../lib/chain/feed-phases.ts";
import type { BlockRange } from "../../../lib/chain/log-scan.ts";
import { lower } from "../../../lib/lower.ts";
import { FEED_TO_PRICE } from "../../../lib/price-rules.ts";
import { greater } from "../../common/bigints.ts";
import type { CoverChain } from "./cover-chain.ts";
import type { Round } from "./history.ts";
import { scanEvents } from "./scan-events.ts";

/** A phase of a feed: its rounds count in the states after `countsAfter` and later blocks. Phase 0 is a feed without phases. */
export type Phase = { readonly phase: number; readonly aggregator: Address; readonly countsAfter: bigint };

/** An answer that an aggregator (lower case) logged, with 8 decimals. `round` is the aggregator's own id. */
export type Answer = {
  readonly aggregator: Address;
  readonly block: bigint;
  readonly round: bigint;
  readonly answer: bigint;
  readonly updatedAt: bigint;
};

/** A new aggregator that a proxy announced. */
type Announcement = { readonly proxy: Address; readonly latest: Address; readonly block: bigint };

const PHASE_ROUNDS = 2n ** 64n;
const MAX_UINT80 = 2n ** 80n - 1n;

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
    const { blockNumber: block } = log;
    const source = lower(log.address);
    if (log.eventName === "AggregatorConfirmed") {
      announcements.push({ proxy: source, latest: lower(log.args.latest), block });
    } else {
      const { current: answer, roundId: round, updatedAt } = log.args;
      answers.push({ aggregator: source, block, round, answer, updatedAt });
    }
  }
  return { answers, announcements };
}

/**
 * The rounds of one feed by rising time. An answer is a round of each phase with its aggregator. Of two answers with one id the
 * first counts.
 */
export function roundsOf(phases: readonly Phase[], answers: readonly Answer[]): Round[] {
  const byId = new Map<bigint, Round>();
  for (const { aggregator, block, round, answer, updatedAt } of answers) {
    for (const { phase, countsAfter } of phases.filter((one) => one.aggregator === aggregator)) {
      // No round id of the feed names it.
      if (round > (phase === 0 ? MAX_UINT80 : PHASE_ROUNDS - 1n)) continue;
      const roundId = BigInt(phase) * PHASE_ROUNDS + round;
      if (byId.has(roundId)) continue;
      const knownAfter = greater(block, countsAfter);
      byId.set(roundId, { roundId, price: answer * FEED_TO_PRICE, updatedAt, knownAfter });
    }
  }
  return [...byId.values()].sort((a, b) => Number(a.updatedAt - b.updatedAt));
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
  firstBlock: bigint,
): Promise<Phase[]> {
  const own = announcements.filter(({ proxy }) => proxy === lower(feed));
  const announced = aggregators.map(({ phase, aggregator }) => {
    // Nobody can buy from a feed before its first phase.
    if (phase <= 1) return { phase, aggregator, countsAfter: 0n };
    const log = own.findLast(({ latest }) => latest === aggregator);
    return log && { phase, aggregator, countsAfter: log.block };
  });
  const unknown = aggregators.filter((_, index) => announced[index] === undefined);
  const dated = announced.filter((phase) => phase !== undefined);
  if (unknown.length === 0) return dated;
  const head = await reads.getBlockNumber();
  const starts = await phaseStarts(reads, feed, unknown, { firstBlock, head }, warn);
  return [
    ...dated,
    ...unknown.map(({ phase, aggregator }, index) => {
      const start = starts[index];
      // A start is the block after the proxy's change. Null is a change after the range that was scanned.
      const countsAfter = start === null || start === undefined ? head : BigInt(start) - 1n;
      return { phase, aggregator, countsAfter };
    }),
  ];
}

/**
 * Reads all rounds of these feeds that were logged in a range, by feed, with the block after which each counts.
 * @throws as {@link scanEvents}; also rejects when the node does not answer
 */
export async function readRounds(
  chain: CoverChain,
  feeds: readonly Address[],
  range: BlockRange,
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
      const phases = await datePhases(chain, feed, aggregators, announcements, range.from);
      return [feed, roundsOf(phases, answers)];
    }),
  );
  return new Map(rounds);
}

/**
 * The same for whoever asks only what the feeds answer in the state after the range's last block: needs no old state. All
 * rounds of phases up to the feed's phase count.
 */
export async function readCurrentRounds(
  chain: CoverChain,
  feeds: readonly Address[],
  range: BlockRange,
): Promise<Map<Address, Round[]>> {
  const { reads } = chain.clients;
  const listed = await Promise.all(
    feeds.map(async (feed) => {
      const newest = (await phaseAt(reads, feed, range.to)) ?? 0;
      const phases = (await readAggregators(chain, feed)).filter(({ phase }) => phase <= newest);
      return { feed, phases: phases.map((phase) => ({ ...phase, countsAfter: 0n })) };
    }),
  );
  const sources = listed.flatMap(({ phases }) => phases.map(({ aggregator }) => aggregator));
  const { answers } = await scanFeedLogs(chain, [...new Set(sources)], range);
  return new Map(listed.map(({ feed, phases }) => [feed, roundsOf(phases, answers)]));
}
