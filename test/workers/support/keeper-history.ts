/** Histories for the keeper's audit, without a chain: a block every two seconds, one policy, and its feed. */
import { type Address, pad, zeroHash } from "viem";
import { createClock } from "../../../workers/keeper/from-chain/block-clock.ts";
import type { Change, CoveredPolicy, History, Round } from "../../../workers/keeper/from-chain/history.ts";
import { payableSpans } from "../../../workers/keeper/from-chain/payable.ts";

export const FEED: Address = pad("0x1", { size: 20 });
const GENESIS = 1_900_000_000n;
const SECONDS_PER_BLOCK = 2n;
export const TRIGGER_PRICE = 90n;

/** The time of a block. */
export const timeOf = (block: number | bigint): bigint => GENESIS + BigInt(block) * SECONDS_PER_BLOCK;

export const clock = createClock(async (block) => timeOf(block));

type PolicyOptions = Partial<Omit<CoveredPolicy, "terms">> & {
  readonly coverFrom?: bigint;
  readonly endsAt?: bigint;
};

/** A policy that was sold in block 100 and can be triggered up to block 1900, an hour later. */
export function policyOf({
  soldIn = 100n,
  coverFrom = timeOf(soldIn),
  endsAt = timeOf(soldIn) + 3_600n,
  ...rest
}: PolicyOptions = {}): CoveredPolicy {
  return {
    productId: zeroHash,
    policyId: 1n,
    buyer: pad("0x2", { size: 20 }),
    coverage: 100_000_000n,
    payout: 80_000_000n,
    closing: undefined,
    soldIn,
    ...rest,
    terms: { feed: FEED, triggerPrice: TRIGGER_PRICE, coverFrom, endsAt },
  };
}

/** A round that was logged in a block; by default at the trigger price, and updated at the block's time. */
export const roundOf = (
  roundId: number,
  block: number,
  { price = TRIGGER_PRICE, updatedAt = timeOf(block) }: { price?: bigint; updatedAt?: bigint } = {},
): Round => ({ roundId: BigInt(roundId), price, updatedAt, knownAfter: BigInt(block) });

/** Rounds at the trigger price, one in each of these blocks, with rising ids. */
export const roundsIn = (...blocks: number[]): Round[] =>
  blocks.map((block, index) => roundOf(index + 1, block));

export const at = <T>(block: number, value: T): Change<T> => ({ block: BigInt(block), value });

type HistoryOptions = {
  readonly lastBlock?: number;
  readonly sequencer?: History["sequencer"];
};

/** A history in which nothing but these changes prevents a trigger. */
export const historyOf = (
  rounds: readonly Round[],
  { lastBlock = 100_000, sequencer = [] }: HistoryOptions = {},
): History => ({
  lastBlock: BigInt(lastBlock),
  rounds: new Map([[FEED, [...rounds].sort((a, b) => Number(a.updatedAt - b.updatedAt))]]),
  sequencer: [at(0, { up: true, startedAt: 1n }), ...sequencer],
});

/** The payable blocks as intervals `[first, last]`; adjacent ones are joined. */
export async function payableBlocks(
  policy: CoveredPolicy,
  history: History,
  blockClock: Pick<typeof clock, "blocksIn"> = clock,
): Promise<[number, number][]> {
  const intervals: [number, number][] = [];
  for (const span of payableSpans(policy, history)) {
    const blocks = await blockClock.blocksIn(span);
    if (!blocks) continue;
    const before = intervals.at(-1);
    if (before && before[1] + 1 === Number(blocks.from)) before[1] = Number(blocks.to);
    else intervals.push([Number(blocks.from), Number(blocks.to)]);
  }
  return intervals;
}
