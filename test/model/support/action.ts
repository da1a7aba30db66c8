/** An action: chooses a call that is possible in the model's state, and changes that state. */
import type { LocalAccount } from "viem";
import { anvilAccount } from "../../../lib/chain/client.ts";
import type { Protocol } from "../../../scripts/local/protocol/actions/index.ts";
import type { Kind, ModelState } from "./model-state.ts";

export const USDC = 1_000_000n;
export const HOUR = 3_600n;
export const DAY = 24n * HOUR;
export const WEEK = 7n * DAY;

export const users: readonly LocalAccount[] = [2, 3, 4, 5].map((index) => anvilAccount(index));

/** The random numbers of one action. Their effect depends on the model's state. */
export type Draw = {
  /** Chooses the kind; evenly distributed, like the next two. */
  readonly kind: number;
  readonly who: number;
  readonly which: number;
  /** An amount; small numbers and limits are frequent. */
  readonly size: number;
};

export type ActionContext = {
  readonly protocol: Protocol;
  readonly owner: LocalAccount;
  readonly relayer: LocalAccount;
  readonly model: ModelState;
  /** Timestamp of the newest block. */
  readonly now: bigint;
  /** The vault's reserve (tokens, 18 decimals), and of the current week in whole dollars what it still pays, and has paid. */
  readonly throttle: { readonly reserve: bigint; readonly left: bigint; readonly redeemed: bigint };
  /** Whole dollars that a user has redeemed or queued in this week, and may still. */
  readonly shareOf: (user: string) => { readonly used: bigint; readonly left: bigint };
  /** The payout that new policies may still have, USDC with 6 decimals. */
  readonly capacity: bigint;
  readonly draw: Draw;
};

/** The block of the action and the changed fields of the state. `kind` overrides the chosen kind. */
export type Outcome = { readonly block: bigint; readonly changed: Partial<ModelState>; readonly kind?: Kind };
export type Plan = () => Promise<Outcome>;
/** Returns undefined when the kind is not possible now. */
export type Action = (context: ActionContext) => Plan | undefined;

/** The item that a number chooses; undefined for an empty list. */
export const pick = <Item>(items: readonly Item[], number: number): Item | undefined =>
  items[number % items.length];

export function pickUser({ draw }: ActionContext): LocalAccount {
  const user = pick(users, draw.who);
  if (!user) throw new Error("there are no users");
  return user;
}

export function userAt(address: string): LocalAccount {
  const user = users.find((account) => account.address === address);
  if (!user) throw new Error(`${address} is no user`);
  return user;
}

/** An amount from 0 to `most`. */
export const amountUpTo = (most: bigint, { size }: Draw): bigint => BigInt(size) % (most + 1n);
