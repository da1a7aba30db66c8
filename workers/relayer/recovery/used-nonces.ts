import { errorText } from "../../../lib/log.ts";
import { lower } from "../../../lib/lower.ts";
import { type Form, storeForms } from "../../ledger/attempts.ts";
import { costOf } from "../../ledger/call-cost.ts";
import type { OpenTransaction } from "../../ledger/open-transactions.ts";
import { markLost } from "../../ledger/outcomes.ts";
import { noteTaken } from "../../ledger/unknown-transactions.ts";
import type { SentTransaction } from "../sent-transaction.ts";
import type { Wallet } from "../wallets.ts";
import { isEmptyTransfer, type RecoveryContext } from "./context.ts";
import { isCancellable, isProvenLost } from "./next-step.ts";
import { findNonceHolder } from "./nonce-holder.ts";

/** A search that did not find the holder of a nonce is repeated after this time, in ms. */
const SEARCH_AGAIN_MS = 30_000;
/** A search that found a holder not yet deep enough in the chain is repeated after this time, in ms. */
const SEARCH_DEEPER_MS = 2000;

type UsedNonceContext = Pick<
  RecoveryContext,
  "sql" | "chain" | "price" | "confirmations" | "settleReceipts" | "nextSearchAt" | "log"
>;

/**
 * Reads the receipts of all signed forms of transactions with a used nonce. Where none of the forms was mined, searches
 * for the transaction that used the nonce.
 */
export async function settleUsedNonces(
  context: UsedNonceContext,
  wallet: Pick<Wallet, "lease">,
  transactions: readonly OpenTransaction[],
): Promise<void> {
  const { chain, settleReceipts, nextSearchAt } = context;
  const own = transactions.flatMap((transaction) =>
    transaction.attempts.map(({ hash, cancels }) => ({ ...transaction, hash, cancels })),
  );
  const receipts = (await Promise.all(own.map(({ hash }) => chain.receipt(hash)))).flatMap((r) => r ?? []);
  await settleReceipts(own, receipts);
  const found = new Set(receipts.map((receipt) => receipt.hash));
  const missing = transactions.filter(({ attempts }) => !attempts.some(({ hash }) => found.has(hash)));
  // One search a round, because each reads old blocks. A search without a result lets the others go first.
  const now = performance.now();
  if (missing.length === 0) nextSearchAt.clear();
  const next = missing.find(({ id }) => (nextSearchAt.get(id) ?? 0) <= now);
  if (next) await findHolder(context, wallet, next);
}

/**
 * Finds the transaction that holds the nonce. It is a form of ours that the database has lost when it makes the same call,
 * or cancels it. Otherwise ours is lost once the block of the other one is deep enough.
 */
async function findHolder(
  { sql, chain, price, confirmations, nextSearchAt, log }: UsedNonceContext,
  { lease }: Pick<Wallet, "lease">,
  transaction: OpenTransaction,
): Promise<void> {
  const { id, wallet, nonce, attempts } = transaction;
  const head = await chain.block("latest");
  if (!head) return;
  const holder = await findNonceHolder(chain, wallet, nonce, head.number).catch((error: unknown) => {
    log.warn({ wallet, nonce, err: errorText(error) }, "could not find the transaction that used a nonce");
    return undefined;
  });
  const form = holder && (await lostForm(price, transaction, holder));
  if (form && (await storeForms(sql, lease, [form])).size > 0) {
    log.error(
      { wallet, nonce, hash: form.signed.hash },
      "the database has lost a signed form: it is recorded again",
    );
    return;
  }
  const seen = holder && { hash: holder.hash, depth: head.number - holder.blockNumber };
  if (!holder || !isProvenLost(attempts, seen, confirmations)) {
    nextSearchAt.set(id, performance.now() + (holder ? SEARCH_DEEPER_MS : SEARCH_AGAIN_MS));
    return;
  }
  nextSearchAt.delete(id);
  if (transaction.kind === "filler") {
    log.error(
      { wallet, nonce, by: holder?.hash },
      "a transaction that the ledger lacks has a filler's nonce",
    );
    await noteTaken(sql, lease, id);
    return;
  }
  log.error({ wallet, nonce, by: holder.hash }, "a nonce was used by a transaction that is not ours");
  await markLost(sql, id, lower(holder.hash));
}

/** The holder of a transaction's nonce as a form of it; undefined when it does neither its call nor the cancelling one. */
async function lostForm(
  price: UsedNonceContext["price"],
  transaction: OpenTransaction,
  { to, data, value, gasLimit, signed }: SentTransaction,
): Promise<Form | undefined> {
  if (!to || !signed) return undefined;
  const isCall = to === transaction.to && data === transaction.data && value === transaction.value;
  const cancels =
    !isCall && isCancellable(transaction.kind) && isEmptyTransfer(transaction.wallet, { to, data, value });
  if (!isCall && !cancels) return undefined;
  const cost = costOf(await price({ to, data, value, gasLimit }), signed.maxFee);
  return { transactionId: transaction.id, signed, cancels, cost };
}
