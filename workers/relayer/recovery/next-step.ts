import type { OpenAttempt, OpenTransaction } from "../../ledger/open-transactions.ts";

/**
 * The next step for an open transaction. A missing receipt, "nonce too low" and a timeout prove nothing: no rule here
 * ends in a failure.
 */
export type Step =
  | { do: "wait" }
  /** Sends the stored bytes again. */
  | { do: "send"; attempt: OpenAttempt }
  /** The nonce is used: looks for the transaction that used it. */
  | { do: "look" }
  /** It delays the wallet's other transactions: signs the same call again at a higher fee. */
  | { do: "bump"; attempt: OpenAttempt }
  /** It is no longer wanted: signs an empty transfer for the same nonce, and the one that is mined decides. */
  | { do: "cancel"; attempt: OpenAttempt };

/**
 * The node's view of a wallet: its count of mined transactions, which is its next nonce; that count with the
 * transactions that its pool could mine now; and the base fee, in wei per gas.
 */
export type WalletView = { minedNonce: number; pooledNonce: number; baseFee: bigint };

/** Bytes that are not mined within this time are sent again, in seconds: a node may have forgotten them. */
export const SEND_AGAIN_AFTER = 5;
/** The recovery looks at a used nonce after this time, in seconds: the watcher may settle the transaction before. */
export const LOOK_AFTER = 3;
/** A wallet's lowest open nonce gets a higher fee after this time, in seconds: seven blocks of an L2. */
export const BUMP_AFTER = 15;
/**
 * A wallet's lowest open nonce that a node accepted and no longer counts as minable, though it was sent twice, gets a
 * higher fee after this shorter time, in seconds. Anvil drops transactions of a burst in this way, and all higher
 * nonces wait for them.
 */
export const DROPPED_BUMP_AFTER = 6;

type Judged = Pick<OpenTransaction, "nonce" | "attempts" | "kind" | "openFor" | "stopped" | "halted">;

/** A purchase that waited `ttl` seconds to be mined or was stopped by the operator: it only delays higher nonces. */
const isUnwanted = ({ kind, attempts, openFor, stopped }: Judged, ttl: number): boolean =>
  kind === "purchase" && attempts.every(({ cancels }) => !cancels) && (openFor >= ttl || stopped);

/**
 * A higher fee helps a transaction that a node accepted, or that offers less than the base fee. A node that refused it
 * for another reason refuses it at any fee.
 */
const isHelpedByFee = ({ taken, maxFee }: OpenAttempt, { baseFee }: WalletView): boolean =>
  taken || maxFee < baseFee;

/** Chooses the next step. `ttl` is the time that a purchase may wait to be mined, in seconds. */
export function nextStep(transaction: Judged, view: WalletView, ttl: number): Step {
  const attempt = transaction.attempts.at(-1);
  if (!attempt) throw new Error(`the transaction with nonce ${transaction.nonce} has no signed bytes`);
  const { sentAgo } = attempt;
  if (transaction.nonce < view.minedNonce) {
    return sentAgo !== null && sentAgo < LOOK_AFTER ? { do: "wait" } : { do: "look" };
  }
  if (transaction.halted) return { do: "wait" };
  if (isUnwanted(transaction, ttl)) return { do: "cancel", attempt };
  if (sentAgo === null) return { do: "send", attempt };
  const bumpAfter = view.pooledNonce > transaction.nonce ? BUMP_AFTER : DROPPED_BUMP_AFTER;
  const isLowest = transaction.nonce === view.minedNonce;
  if (isLowest && attempt.age >= bumpAfter && isHelpedByFee(attempt, view)) return { do: "bump", attempt };
  return sentAgo >= SEND_AGAIN_AFTER ? { do: "send", attempt } : { do: "wait" };
}

/** The transaction that used a nonce, and how deep its block lies (0 is the head). */
export type NonceHolder = { hash: string; depth: bigint };

/**
 * Whether a transaction can never be mined, because another one holds its nonce, `confirmations` blocks deep. Without a
 * holder that was seen in a block nothing is proven.
 */
export function isProvenLost(
  attempts: readonly Pick<OpenAttempt, "hash">[],
  holder: NonceHolder | undefined,
  confirmations: number,
): boolean {
  if (!holder || holder.depth < BigInt(confirmations)) return false;
  return attempts.every((attempt) => attempt.hash.toLowerCase() !== holder.hash.toLowerCase());
}
