import type { OpenAttempt, OpenTransaction } from "../../ledger/transactions.ts";

/**
 * The next step for an open transaction. A missing receipt, "nonce too low" and a timeout prove nothing: no rule here
 * ends in a failure.
 */
export type Step =
  | { do: "wait" }
  /** It has a nonce and no bytes, because its writer died before it stored them: signs the call, or the empty transfer. */
  | { do: "sign"; cancels: boolean }
  /** Sends the stored bytes again. */
  | { do: "send"; attempt: OpenAttempt }
  /** The nonce is used: looks for the transaction that used it. */
  | { do: "look" }
  /** It is not mined at its fee: signs the same call again at a higher fee. */
  | { do: "bump"; attempt: OpenAttempt }
  /** It is no longer wanted: signs an empty transfer for the same nonce, and the one that is mined decides. */
  | { do: "cancel"; attempt: OpenAttempt };

/**
 * The node's view of a wallet: its count of mined transactions, which is its next nonce; that count with the
 * transactions that its pool could mine now; and the base fee, in wei per gas.
 */
export type WalletView = {
  minedNonce: number;
  pooledNonce: number;
  baseFee: bigint;
  /** No block has come since the wallet's transactions were sent again or got a higher fee: what the pool has waits for one. */
  noNewBlock?: boolean;
};

/** A nonce without bytes is signed after this time, in seconds: its writer may be about to store them. */
export const SIGN_AFTER = 3;
/** Bytes that are not mined within this time are sent again, in seconds: a node may have forgotten them. */
export const SEND_AGAIN_AFTER = 5;
/** The recovery looks at a used nonce after this time, in seconds: the watcher may settle the transaction before. */
export const LOOK_AFTER = 3;
/** A wallet's lowest open nonce gets a higher fee after this time, in seconds: seven blocks of an L2. */
export const BUMP_AFTER = 15;
/**
 * A wallet's lowest open nonce that a node accepted and no longer counts as minable gets a higher fee after this shorter
 * time, in seconds. Anvil drops transactions of a burst in this way, and all higher nonces wait for them.
 */
export const DROPPED_BUMP_AFTER = 6;

type Judged = Pick<
  OpenTransaction,
  "nonce" | "wanted" | "attempts" | "kind" | "openFor" | "stopped" | "halted"
>;

/**
 * The form that is to be mined, undefined before the first is signed: the newest one. Where a block with the call fell out
 * of the chain it is the call's newest form, even if the empty transfer was signed later: its buyer has been told that it
 * was bought.
 */
function wantedForm({ wanted, attempts }: Judged): OpenAttempt | undefined {
  const form = attempts.find((attempt) => attempt.hash === wanted);
  return form && attempts.findLast(({ cancels }) => cancels === form.cancels);
}

/** The node is sent the bytes again. */
export const isDue = ({ sentAgo }: OpenAttempt): boolean => sentAgo === null || sentAgo >= SEND_AGAIN_AFTER;

/** Whether an empty transfer may take its place: a purchase, or the permit that was sent for one. */
export const isCancellable = (kind: Judged["kind"]): boolean => kind === "purchase" || kind === "permit";

/** A cancellable one that waited `ttl` seconds to be mined, or is stopped: it only delays higher nonces. */
const isUnwanted = (
  { kind, openFor, stopped }: Judged,
  form: OpenAttempt | undefined,
  ttl: number,
): boolean => isCancellable(kind) && !form?.cancels && (openFor >= ttl || stopped);

/**
 * Whether a higher fee helps: the form offers less than the base fee, or less than a newer form that must not be mined,
 * or it delays all higher nonces although a node accepted it. A node that refused it for another reason refuses it at
 * any fee.
 */
function isHelpedByFee(form: OpenAttempt, { nonce, attempts }: Judged, view: WalletView): boolean {
  if (form.maxFee < view.baseFee || form !== attempts.at(-1)) return true;
  const bumpAfter = view.pooledNonce > nonce ? BUMP_AFTER : DROPPED_BUMP_AFTER;
  return nonce === view.minedNonce && form.age >= bumpAfter && !form.untaken;
}

/** Chooses the next step. `ttl` is the time that a purchase may wait to be mined, in seconds. */
export function nextStep(transaction: Judged, view: WalletView, ttl: number): Step {
  const attempt = wantedForm(transaction);
  if (!attempt) {
    if (transaction.openFor < SIGN_AFTER || transaction.halted) return { do: "wait" };
    return { do: "sign", cancels: isUnwanted(transaction, undefined, ttl) };
  }
  const { sentAgo } = attempt;
  if (transaction.nonce < view.minedNonce) {
    return sentAgo !== null && sentAgo < LOOK_AFTER ? { do: "wait" } : { do: "look" };
  }
  if (transaction.halted) return { do: "wait" };
  if (isUnwanted(transaction, attempt, ttl)) return { do: "cancel", attempt };
  if (view.noNewBlock && sentAgo !== null && transaction.nonce < view.pooledNonce) return { do: "wait" };
  if (isHelpedByFee(attempt, transaction, view)) return { do: "bump", attempt };
  return isDue(attempt) ? { do: "send", attempt } : { do: "wait" };
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
