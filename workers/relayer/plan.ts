import type { OpenAttempt, OpenTransaction } from "../ledger/open.ts";

/**
 * What to do next about an open transaction, given its signed forms and what the chain says of the wallet. Neither a
 * missing receipt, nor "nonce too low", nor a time-out proves anything: there is no rule here that ends in a failure.
 */
export type Step =
  | { do: "wait" }
  /** Sends the stored bytes again. */
  | { do: "send"; attempt: OpenAttempt }
  /** The nonce is used: finds out by which transaction. */
  | { do: "look" }
  /** Holds up the wallet's other transactions for too long: signs the same once more at a higher fee. */
  | { do: "bump"; attempt: OpenAttempt }
  /** Is wanted no more: signs an empty transfer for the same nonce, and whichever of the two is mined decides. */
  | { do: "cancel"; attempt: OpenAttempt };

/**
 * What the node says of a wallet: the number of its mined transactions, which is the nonce of the next, and that number
 * with those that its pool could mine now; and the base fee, in wei per gas.
 */
export type WalletView = { minedNonce: number; pooledNonce: number; baseFee: bigint };

/** Bytes that are not in a block by then are sent again, in seconds: a node may have forgotten them. */
export const SEND_AGAIN_AFTER = 5;
/** The watcher settles what it sees in a block; a used nonce is looked into only when it did not, in seconds. */
export const LOOK_AFTER = 3;
/** The first in a wallet's line is sent at a higher fee after this time, in seconds: seven blocks of an L2. */
export const BUMP_AFTER = 15;
/**
 * The first in line that the node once took and does not count as minable, after it was sent twice, is replaced after this
 * time already, in seconds: anvil loses some of a burst like that, and all that follow wait behind it.
 */
export const SHUNNED_AFTER = 6;

type Judged = Pick<OpenTransaction, "nonce" | "attempts" | "kind" | "openFor" | "stopped" | "halted">;

/** A purchase that waited `ttl` seconds to be mined, or that the operator has stopped, so that it only blocks the line. */
const isUnwanted = ({ kind, attempts, openFor, stopped }: Judged, ttl: number): boolean =>
  kind === "purchase" && attempts.every(({ cancels }) => !cancels) && (openFor >= ttl || stopped);

/** A higher fee helps only what a node took, or what offers less than a block asks: whatever else is refused stays so. */
const helpsHigherFee = ({ taken, maxFee }: OpenAttempt, { baseFee }: WalletView): boolean =>
  taken || maxFee < baseFee;

/** `ttl` in seconds: how long a purchase may wait to be mined. */
export function nextStep(transaction: Judged, view: WalletView, ttl: number): Step {
  const attempt = transaction.attempts.at(-1);
  if (!attempt) throw new Error(`the transaction of nonce ${transaction.nonce} has no signed bytes`);
  const { sentAgo } = attempt;
  if (transaction.nonce < view.minedNonce) {
    return sentAgo !== null && sentAgo < LOOK_AFTER ? { do: "wait" } : { do: "look" };
  }
  if (transaction.halted) return { do: "wait" };
  if (isUnwanted(transaction, ttl)) return { do: "cancel", attempt };
  if (sentAgo === null) return { do: "send", attempt };
  const patience = view.pooledNonce > transaction.nonce ? BUMP_AFTER : SHUNNED_AFTER;
  const isFirst = transaction.nonce === view.minedNonce;
  if (isFirst && attempt.age >= patience && helpsHigherFee(attempt, view)) return { do: "bump", attempt };
  return sentAgo >= SEND_AGAIN_AFTER ? { do: "send", attempt } : { do: "wait" };
}

/** What is known of a used nonce: the transaction that holds it, and how deep its block lies (0 is the head). */
export type NonceHolder = { hash: string; depth: bigint };

/**
 * Whether a transaction can never be mined: another one holds its nonce, `confirmations` blocks deep. Without a holder
 * that was seen in a block nothing is proven.
 */
export function isProvenLost(
  attempts: readonly Pick<OpenAttempt, "hash">[],
  holder: NonceHolder | undefined,
  confirmations: number,
): boolean {
  if (!holder || holder.depth < BigInt(confirmations)) return false;
  return attempts.every((attempt) => attempt.hash.toLowerCase() !== holder.hash.toLowerCase());
}
