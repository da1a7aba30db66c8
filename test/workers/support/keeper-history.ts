/** Histories for the keeper's audit, without a chain: a block every two seconds, one policy, and its feed. */
import { type Address, pad, zeroHash } from "viem";
import { createClock } from "../../../workers/keeper/from-chain/cover-chain.ts";
import type {
  Change,
  CoveredPolicy,
  History,
  Observation,
  Round,
} from "../../../workers/keeper/from-chain/history.ts";

export const FEED: Address = pad("0x1", { size: 20 });
const GENESIS = 1_900_000_000n;
const SECONDS_PER_BLOCK = 2n;
export const BARRIER = 90n;
/** A price above the barrier. */
export const HIGH = 91n;

/** The time of a block. */
export const timeOf = (block: number | bigint): bigint => GENESIS + BigInt(block) * SECONDS_PER_BLOCK;

export const clock = createClock(async (block) => timeOf(block));

type PolicyOptions = Partial<Omit<CoveredPolicy, "terms">> & { readonly endsAt?: bigint };

/** A policy that was sold in block 100: it can be observed in the blocks 250 to 1900, an hour after its purchase. */
export function policyOf({
  soldIn = 100n,
  endsAt = timeOf(soldIn) + 3_600n,
  ...rest
}: PolicyOptions = {}): CoveredPolicy {
  return {
    productId: zeroHash,
    policyId: 1n,
    buyer: pad("0x2", { size: 20 }),
    adapter: pad("0x3", { size: 20 }),
    coverage: 100_000_000n,
    payout: 80_000_000n,
    closing: undefined,
    observations: [],
    soldIn,
    ...rest,
    terms: { feed: FEED, barrier: BARRIER, startsAt: timeOf(soldIn), endsAt },
  };
}

/** A round that was logged in a block; by default at the barrier, and updated at the block's time. */
export const roundIn = (
  block: number,
  { price = BARRIER, updatedAt = timeOf(block), logIndex = 0 }: Partial<Omit<Round, "block">> = {},
): Round => ({ block: BigInt(block), logIndex, price, updatedAt });

/** Rounds at the barrier, one in each of these blocks. */
export const roundsIn = (...blocks: number[]): Round[] => blocks.map((block) => roundIn(block));

export const observedIn = (block: number, count: number, logIndex = 1): Observation => ({
  ...{ block: BigInt(block), logIndex, count, txHash: zeroHash },
});

export const at = <T>(block: number, value: T): Change<T> => ({ block: BigInt(block), value });

type HistoryOptions = {
  readonly lastBlock?: number;
  readonly sequencer?: History["sequencer"];
};

/** A history in which nothing but these changes prevents an observation; the price was above the barrier before them. */
export const historyOf = (
  rounds: readonly Round[],
  { lastBlock = 100_000, sequencer = [] }: HistoryOptions = {},
): History => ({
  lastBlock: BigInt(lastBlock),
  rounds: new Map([[FEED, [roundIn(50, { price: HIGH }), ...rounds]]]),
  sequencer: [at(0, { up: true, startedAt: 1n }), ...sequencer],
});
