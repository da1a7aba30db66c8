/** What an action is: a choice among what is possible in a world, and a change of it. */
import type { LocalAccount } from "viem";
import { anvilAccount } from "../../../lib/chain/client.ts";
import type { Protocol } from "../../../scripts/local/protocol/actions/index.ts";
import type { Kind, World } from "./world.ts";

export const USDC = 1_000_000n;
export const HOUR = 3_600n;
export const DAY = 24n * HOUR;
export const WEEK = 7n * DAY;

export const players: readonly LocalAccount[] = [2, 3, 4, 5].map((index) => anvilAccount(index));

/** One random step. What the numbers choose depends on the world in which the step is taken. */
export type Draw = {
  /** Which kind of action, evenly drawn as are the next two. */
  readonly kind: number;
  readonly who: number;
  readonly which: number;
  /** An amount of something; small ones and limits come often. */
  readonly size: number;
};

export type Scene = {
  readonly protocol: Protocol;
  readonly owner: LocalAccount;
  readonly relayer: LocalAccount;
  readonly world: World;
  /** Timestamp of the newest block. */
  readonly now: bigint;
  /** Whole dollars that the vault pays at once for matured bonds; above that a redemption is queued. */
  readonly payable: bigint;
  /** What premiums may still be taken for, USDC with 6 decimals. */
  readonly capacity: bigint;
  readonly draw: Draw;
};

/** What has happened: the block of the effect, and what of the world is another now. */
export type Outcome = { readonly block: bigint; readonly changed: Partial<World>; readonly kind?: Kind };
export type Plan = () => Promise<Outcome>;
/** Undefined when nothing of the kind can be done now. */
export type Action = (scene: Scene) => Plan | undefined;

/** The one of a list that a number chooses; undefined for an empty list. */
export const chosen = <Item>(items: readonly Item[], number: number): Item | undefined =>
  items[number % items.length];

export function chosenPlayer({ draw }: Scene): LocalAccount {
  const player = chosen(players, draw.who);
  if (!player) throw new Error("nobody plays");
  return player;
}

export function playerAt(address: string): LocalAccount {
  const player = players.find((account) => account.address === address);
  if (!player) throw new Error(`${address} does not play`);
  return player;
}

/** An amount from 0 to `most`. */
export const amountUpTo = (most: bigint, { size }: Draw): bigint => BigInt(size) % (most + 1n);
