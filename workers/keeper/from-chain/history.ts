/** The cover's history as the chain alone tells it. A state "after a block" is that of the chain up to this block. */
import type { Address, Hex } from "viem";
import type { SequencerStatus } from "../../../lib/chain/sequencer-status.ts";
import type { PolicyKey } from "../../../lib/chain/trigger.ts";
import { DWELL, MAX_PRICE_AGE, SEQUENCER_GRACE } from "../../../lib/price-rules.ts";
import { greater, smaller } from "../../common/bigints.ts";

/** The place of a log in the chain. */
export type Position = { readonly block: bigint; readonly logIndex: number };

export const isBefore = (a: Position, b: Position): boolean =>
  a.block < b.block || (a.block === b.block && a.logIndex < b.logIndex);

/** The round that a feed answers from a log on. `price` has 8 decimals, 0 where it is not known; `updatedAt` in Unix seconds. */
export type Round = Position & { readonly price: bigint; readonly updatedAt: bigint };

/** Times are Unix seconds, both inclusive. */
export type CoverTerms = {
  /** The price feed that the shield reads. */
  readonly feed: Address;
  /** The highest price that counts, with 8 decimals. */
  readonly barrier: bigint;
  readonly startsAt: bigint;
  readonly endsAt: bigint;
};

/** What closed a policy, and the block of its log. One whose key has come again can no longer be paid. */
export type Closing = { readonly by: "triggered" | "expired" | "replaced"; readonly block: bigint };

/** A policy from its log. Coverage and payout in USDC, 6 decimals. */
export type SoldPolicy = PolicyKey & {
  readonly buyer: Address;
  readonly coverage: bigint;
  readonly payout: bigint;
  /** The block of its purchase. */
  readonly soldIn: bigint;
  readonly closing: Closing | undefined;
};

/** The number of observations in a row after one, or 0 after a reset. */
export type Observation = Position & { readonly count: number; readonly txHash: Hex };

/** A policy with what its shield logged of it, in the order of the chain. */
export type CoveredPolicy = SoldPolicy & {
  readonly adapter: Address;
  readonly terms: CoverTerms;
  readonly observations: readonly Observation[];
};

/** A value that holds in the states after `block` and after later blocks, until the next change. */
export type Change<T> = { readonly block: bigint; readonly value: T };

/** Changes in the order of their blocks. The first one has the value from before the history, and block 0 or an earlier one. */
export type Timeline<T> = readonly Change<T>[];

export type History = {
  /** The newest block of the history. */
  readonly lastBlock: bigint;
  /** The rounds that each feed has answered, in the order of the chain. */
  readonly rounds: ReadonlyMap<Address, readonly Round[]>;
  /** Undefined while nobody knows the status: then nothing can be observed. */
  readonly sequencer: Timeline<SequencerStatus | undefined>;
};

/** The entry that holds in the state after a block. */
export function newestAt<T extends { readonly block: bigint }>(
  changes: readonly T[],
  block: bigint,
): T | undefined {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((changes[middle]?.block ?? block) <= block) low = middle + 1;
    else high = middle;
  }
  return changes[low - 1];
}

/** Times in Unix seconds, both inclusive. */
export type Times = { readonly notBefore: bigint; readonly notAfter: bigint };

/** When a policy could be observed in a state, before the rules on the observations before it; undefined for never. */
export function observableTimes(
  { barrier, startsAt, endsAt }: CoverTerms,
  round: Round | undefined,
  sequencer: SequencerStatus | undefined,
): Times | undefined {
  if (!round || round.price <= 0n || round.price > barrier || round.updatedAt === 0n) return undefined;
  if (!sequencer?.up) return undefined;
  const settled = sequencer.startedAt + BigInt(SEQUENCER_GRACE) + 1n;
  return {
    notBefore: [settled, round.updatedAt].reduce(greater, startsAt + BigInt(DWELL)),
    notAfter: smaller(endsAt, round.updatedAt + BigInt(MAX_PRICE_AGE)),
  };
}
