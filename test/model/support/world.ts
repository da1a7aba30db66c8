/**
 * What the players of a random history need to know of the chain to choose a next action: a note of each policy, bond
 * and listing, changed by every action. It is immutable, so that a reorganisation takes it back with the blocks.
 */
import type { Address, Hex } from "viem";
import type { ProductTerms } from "../../../scripts/local/protocol/terms.ts";

/** Everything that can happen; each has to happen in a run. */
export const kinds = [
  "purchase",
  "relayedPurchase",
  "trigger",
  "markExpired",
  "cancelPolicy",
  "list",
  "buy",
  "cancelListing",
  "emergencyCancel",
  "twapBurn",
  "buybackBurn",
  "directBurn",
  "reserveBurn",
  "redeem",
  "queue",
  "processQueue",
  "surrender",
  "pauseRouter",
  "pauseEverything",
  "pauseProduct",
  "endSale",
  "resume",
  "movePrice",
  "passHours",
  "passDays",
  "passWeek",
  "passYears",
  "refused",
] as const;
export type Kind = (typeof kinds)[number];

export type PolicyNote = {
  readonly terms: ProductTerms;
  readonly policyId: bigint;
  /** Cover runs from here to `expiresAt`, Unix seconds. */
  readonly coverFrom: bigint;
  readonly expiresAt: bigint;
  /** Neither triggered nor cancelled nor marked as expired. */
  readonly open: boolean;
};
export type HoldingNote = { readonly owner: Address; readonly epochId: bigint; readonly balance: bigint };
export type ListingNote = {
  readonly listingId: bigint;
  readonly seller: Address;
  readonly epochId: bigint;
  readonly amount: bigint;
  readonly open: boolean;
};

export type World = {
  readonly policies: readonly PolicyNote[];
  readonly holdings: readonly HoldingNote[];
  /** When the bonds of an epoch can be redeemed, Unix seconds. */
  readonly maturities: ReadonlyMap<bigint, bigint>;
  readonly listings: readonly ListingNote[];
  /** Redemptions that wait, by the week from which they can be paid. */
  readonly queue: readonly bigint[];
  readonly routerPaused: boolean;
  readonly everythingPaused: boolean;
  readonly pausedProducts: readonly Hex[];
  /** Products whose sale has ended, with the shields under which they can be sold again. */
  readonly endedSales: ReadonlyMap<Hex, Address>;
  /** How often each kind has taken effect and stands. */
  readonly done: Readonly<Partial<Record<Kind, number>>>;
};

export const emptyWorld: World = {
  policies: [],
  holdings: [],
  maturities: new Map(),
  listings: [],
  queue: [],
  routerPaused: false,
  everythingPaused: false,
  pausedProducts: [],
  endedSales: new Map(),
  done: {},
};

/** How many actions have taken effect and stand. */
export const actionsOf = ({ done }: World): number =>
  Object.values(done).reduce((sum, count) => sum + count, 0);

export const balanceOf = ({ holdings }: World, owner: Address, epochId: bigint): bigint =>
  holdings.find((held) => held.owner === owner && held.epochId === epochId)?.balance ?? 0n;

/** The holdings after `by` bonds came in, or went out where it is negative. */
export function holdingsAfter(world: World, owner: Address, epochId: bigint, by: bigint): HoldingNote[] {
  const others = world.holdings.filter((held) => held.owner !== owner || held.epochId !== epochId);
  const balance = balanceOf(world, owner, epochId) + by;
  return balance > 0n ? [...others, { owner, epochId, balance }] : others;
}

/** The list with one note replaced. */
export const replaced = <Note>(notes: readonly Note[], note: Note, by: Note): Note[] =>
  notes.map((other) => (other === note ? by : other));

/** The worlds of the past, by the block in which each began. */
export type Chronicle = {
  readonly now: () => World;
  readonly note: (block: bigint, world: World) => void;
  /** Takes back what was noted for blocks above this one. */
  readonly goBackTo: (block: bigint) => void;
};

export function createChronicle(): Chronicle {
  let entries: readonly { readonly block: bigint; readonly world: World }[] = [];
  return {
    now: () => entries.at(-1)?.world ?? emptyWorld,
    note: (block, world) => {
      entries = [...entries, { block, world }];
    },
    goBackTo: (block) => {
      entries = entries.filter((entry) => entry.block <= block);
    },
  };
}
