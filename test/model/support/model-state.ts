/**
 * The state from which a random history chooses its next action: policies, bonds, listings and pauses. It is immutable, so
 * that a reorganisation can revert it.
 */
import type { Address, Hex } from "viem";
import type { ProductTerms } from "../../../scripts/local/protocol/terms.ts";

/** The kinds of actions. Each must occur in a run. */
export const kinds = [
  "purchase",
  "relayedPurchase",
  "observe",
  "reset",
  "trigger",
  "submitTrigger",
  "markExpired",
  "expireByUpkeep",
  "list",
  "buy",
  "cancelListing",
  "buyBack",
  "withdraw",
  "twapBurn",
  "directBurn",
  "reserveBurn",
  "redeem",
  "queue",
  "processQueue",
  "surrender",
  "pauseRouter",
  "pauseByPrice",
  "pauseGlobally",
  "endSale",
  "resume",
  "movePrice",
  "passHours",
  "passDays",
  "passWeek",
  "passYears",
  "outage",
  "refused",
] as const;
export type Kind = (typeof kinds)[number];

export type ModelPolicy = {
  readonly terms: ProductTerms;
  readonly policyId: bigint;
  readonly expiresAt: bigint;
  /** Neither triggered nor marked as expired. */
  readonly open: boolean;
};
export type ModelHolding = { readonly owner: Address; readonly epochId: bigint; readonly balance: bigint };
export type ModelListing = {
  readonly listingId: bigint;
  readonly seller: Address;
  readonly epochId: bigint;
  readonly amount: bigint;
  readonly open: boolean;
};

export type ModelState = {
  readonly policies: readonly ModelPolicy[];
  readonly holdings: readonly ModelHolding[];
  /** The time from which bonds of an epoch can be redeemed, Unix seconds. */
  readonly maturities: ReadonlyMap<bigint, bigint>;
  readonly listings: readonly ModelListing[];
  /** Sellers that have something to withdraw from the marketplace. */
  readonly credited: readonly Address[];
  /** Queued redemptions: the week in which each can be paid. An entry of a past week is never paid. */
  readonly queue: readonly bigint[];
  readonly routerPaused: boolean;
  /** Whether the router has stored that the token's price is too low. */
  readonly pausedByPrice: boolean;
  readonly globallyPaused: boolean;
  /** Products whose sale ended at the manager, with the adapters to register them again, or at the router (null). */
  readonly endedSales: ReadonlyMap<Hex, Address | null>;
  /** The number of actions of each kind, without reverted ones. */
  readonly done: Readonly<Partial<Record<Kind, number>>>;
};

export const initialState: ModelState = {
  policies: [],
  holdings: [],
  maturities: new Map(),
  listings: [],
  credited: [],
  queue: [],
  routerPaused: false,
  pausedByPrice: false,
  globallyPaused: false,
  endedSales: new Map(),
  done: {},
};

/** The number of all actions, without reverted ones. */
export const actionCount = ({ done }: ModelState): number =>
  Object.values(done).reduce((sum, count) => sum + count, 0);

export const balanceOf = ({ holdings }: ModelState, owner: Address, epochId: bigint): bigint =>
  holdings.find((held) => held.owner === owner && held.epochId === epochId)?.balance ?? 0n;

/** The holdings after adding `by` bonds, which may be negative. */
export function holdingsAfter(
  model: ModelState,
  owner: Address,
  epochId: bigint,
  by: bigint,
): ModelHolding[] {
  const others = model.holdings.filter((held) => held.owner !== owner || held.epochId !== epochId);
  const balance = balanceOf(model, owner, epochId) + by;
  return balance > 0n ? [...others, { owner, epochId, balance }] : others;
}

/** The list with one item replaced. */
export const replaced = <Item>(items: readonly Item[], item: Item, by: Item): Item[] =>
  items.map((other) => (other === item ? by : other));

/** The past states, by the block in which each began. */
export type StateHistory = {
  readonly now: () => ModelState;
  readonly add: (block: bigint, model: ModelState) => void;
  /** Drops the states of later blocks. */
  readonly revertTo: (block: bigint) => void;
};

export function createStateHistory(): StateHistory {
  let entries: readonly { readonly block: bigint; readonly model: ModelState }[] = [];
  return {
    now: () => entries.at(-1)?.model ?? initialState,
    add: (block, model) => {
      entries = [...entries, { block, model }];
    },
    revertTo: (block) => {
      entries = entries.filter((entry) => entry.block <= block);
    },
  };
}
