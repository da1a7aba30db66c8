import { errorText } from "../../../lib/log.ts";
import { lower } from "../../../lib/lower.ts";
import type { OpenTransaction } from "../../ledger/open-transactions.ts";
import { markLost } from "../../ledger/outcomes.ts";
import type { RecoveryContext } from "./context.ts";
import { isProvenLost } from "./next-step.ts";
import { findNonceHolder } from "./nonce-holder.ts";

/** A search that did not find the holder of a nonce is repeated after this time, in ms. */
const SEARCH_AGAIN_MS = 30_000;
/** A search that found a holder not yet deep enough in the chain is repeated after this time, in ms. */
const SEARCH_DEEPER_MS = 2000;

/**
 * Reads the receipts of all signed forms of transactions with a used nonce. Where none of the forms was mined, searches
 * for the transaction that used the nonce.
 */
export async function settleUsedNonces(
  context: RecoveryContext,
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
  if (next) await proveLost(context, next);
}

/** Marks a transaction lost when another transaction holds its nonce, deep enough in the chain. */
async function proveLost(
  { sql, chain, confirmations, nextSearchAt, log }: RecoveryContext,
  { id, wallet, nonce, attempts }: OpenTransaction,
): Promise<void> {
  const head = await chain.block("latest");
  if (!head) return;
  const holder = await findNonceHolder(chain, wallet, nonce, head.number).catch((error: unknown) => {
    log.warn({ wallet, nonce, err: errorText(error) }, "could not find the transaction that used a nonce");
    return undefined;
  });
  const seen = holder && { hash: holder.hash, depth: head.number - holder.blockNumber };
  if (!holder || !isProvenLost(attempts, seen, confirmations)) {
    nextSearchAt.set(id, performance.now() + (holder ? SEARCH_DEEPER_MS : SEARCH_AGAIN_MS));
    return;
  }
  nextSearchAt.delete(id);
  log.error({ wallet, nonce, by: holder.hash }, "a nonce was used by a transaction that is not ours");
  await markLost(sql, id, lower(holder.hash));
}
