/** The cover's history as the chain alone tells it. A state "after a block" is that of the chain up to this block. */
import type { Address, Hex } from "viem";
import type { SequencerStatus } from "../../../lib/chain/sequencer-status.ts";
import type { PolicyKey } from "../../../lib/chain/trigger.ts";

/** A round of a feed, by the feed's own id. `price` has 18 decimals; `updatedAt` is the round's time in Unix seconds. */
export type Round = {
  readonly roundId: bigint;
  readonly price: bigint;
  readonly updatedAt: bigint;
  /** The feed answers for the round in the state after this block. */
  readonly knownAfter: bigint;
};

/** What a policy's shield stores of it. Times are Unix seconds, both inclusive; the price has 18 decimals. */
export type CoverTerms = {
  /** The price feed that the shield reads. */
  readonly feed: Address;
  /** The highest price that triggers. */
  readonly triggerPrice: bigint;
  readonly coverFrom: bigint;
  readonly endsAt: bigint;
};

/** What closed a policy, and the block of its log. */
export type Closing = {
  readonly by: "triggered" | "expired";
  readonly block: bigint;
  readonly txHash: Hex;
};

/** A policy from its log. Coverage and payout in USDC, 6 decimals. */
export type SoldPolicy = PolicyKey & {
  readonly buyer: Address;
  readonly coverage: bigint;
  readonly payout: bigint;
  /** The block of its purchase. */
  readonly soldIn: bigint;
  readonly closing: Closing | undefined;
};

/** A policy with its terms. */
export type CoveredPolicy = SoldPolicy & { readonly terms: CoverTerms };

/** A value that holds in the states after `block` and after later blocks, until the next change. */
export type Change<T> = { readonly block: bigint; readonly value: T };

/** Changes in the order of their blocks. The first one has the value from before the history, and block 0 or an earlier one. */
export type Timeline<T> = readonly Change<T>[];

export type History = {
  /** The newest block of the history. */
  readonly lastBlock: bigint;
  /** All rounds that may count for the policies, by feed; each feed's by rising time. */
  readonly rounds: ReadonlyMap<Address, readonly Round[]>;
  /** Undefined while nobody knows the status: then nothing can be triggered. */
  readonly sequencer: Timeline<SequencerStatus | undefined>;
};

/** The value in the state after a block. */
export function valueAfter<T>(timeline: Timeline<T>, block: bigint): T | undefined {
  return timeline.findLast((change) => change.block <= block)?.value;
}
