import type { Address } from "viem";
import { errorText } from "../../../lib/log.ts";
import { lower } from "../../../lib/lower.ts";
import { costOf } from "../../ledger/assign-nonces.ts";
import { deleteLost, type NonceGap, nonceGaps, storeFillers } from "../../ledger/fillers.ts";
import { lacksFinal, markLost } from "../../ledger/outcomes.ts";
import { type Form, type OpenTransaction, storeForms } from "../../ledger/transactions.ts";
import { noteTaken } from "../../ledger/unknown-transactions.ts";
import type { Chain, SentTransaction } from "../chain.ts";
import type { Wallet } from "../wallets.ts";
import { emptyTransfer, isEmptyTransfer, type RecoveryContext } from "./context.ts";
import { isCancellable, isProvenLost, LOOK_AFTER, type WalletView } from "./next-step.ts";

/** How many blocks back the search for a used nonce goes; a node without those states ends it sooner. */
const MAX_DEPTH = 100_000n;

/** A transaction that used a nonce, with its block. */
export type NonceHolder = SentTransaction & { blockNumber: bigint };

/**
 * Finds the transaction that used a nonce of a wallet, and its block, by reading the wallet's nonce at older blocks.
 * Undefined when the nonce is free or the search went back too far; rejects when the node does not answer, or does not
 * have a block's state.
 */
export async function findNonceHolder(
  chain: Pick<Chain, "nonce" | "transactions">,
  wallet: Address,
  nonce: number,
  head: bigint,
): Promise<NonceHolder | undefined> {
  const isUsedAt = async (block: bigint) => (await chain.nonce(wallet, block)) > nonce;
  if (!(await isUsedAt(head))) return undefined;

  let used = head;
  let step = 1n;
  let free = head - step;
  while (free >= 0n && (await isUsedAt(free))) {
    used = free;
    step *= 2n;
    if (step > MAX_DEPTH) return undefined;
    free = used - step;
  }
  if (free < 0n) free = -1n;
  while (used - free > 1n) {
    const middle = (used + free) / 2n;
    if (await isUsedAt(middle)) used = middle;
    else free = middle;
  }
  const holder = (await chain.transactions(used)).find((tx) => tx.nonce === nonce && tx.from === wallet);
  return holder && { ...holder, blockNumber: used };
}

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

type GapContext = Pick<RecoveryContext, "sql" | "chainId" | "log"> & {
  readonly chain: Pick<RecoveryContext["chain"], "block" | "nonce" | "receipt">;
};

/**
 * Stores empty transfers for the nonces below an open transaction that neither the ledger nor the node's pool has a
 * transaction for. The next round of the recovery signs and sends them.
 */
export async function closeNonceGaps(
  context: GapContext,
  wallet: Pick<Wallet, "address" | "lease">,
  lowest: OpenTransaction,
  { minedNonce, pooledNonce }: WalletView,
): Promise<void> {
  const { sql, chainId, log } = context;
  if (lowest.nonce <= minedNonce || lowest.openFor < LOOK_AFTER) return;
  // The node is behind, or a reorganisation went deep: then the final ones are opened again first. What looks like a gap may be
  // archived.
  if (await lacksFinal(sql, chainId, wallet.address, minedNonce)) return;
  const gaps = (await nonceGaps(sql, chainId, wallet.address, minedNonce)).filter(
    ({ nonce }) => nonce >= pooledNonce && nonce < lowest.nonce,
  );
  const freed = await freeLost(context, wallet, gaps);
  const nonces = gaps.flatMap(({ nonce, lostTo }) => (lostTo === null || freed.has(nonce) ? [nonce] : []));
  if (nonces.length === 0) return;
  await storeFillers(sql, wallet.lease, nonces, emptyTransfer(wallet));
  log.warn({ wallet: wallet.address, nonces }, "filled nonce gaps with empty transfers");
}

/**
 * Forgets lost transactions among the gaps where a reorganisation has dropped the transactions that took their nonces: a block that
 * the ledger knows, or a newer one, has neither.
 * @returns the nonces that are free.
 */
async function freeLost(
  { sql, chain, log }: GapContext,
  { address, lease }: Pick<Wallet, "address" | "lease">,
  gaps: readonly NonceGap[],
): Promise<ReadonlySet<number>> {
  const lost = gaps.flatMap(({ nonce, lostTo }) => (lostTo === null ? [] : [{ nonce, lostTo }]));
  const head = lost.length > 0 && (await chain.block("latest"));
  if (!head) return new Set();
  const atHead = await chain.nonce(address, head.number);
  const receipts = await Promise.all(lost.map(({ lostTo }) => chain.receipt(lostTo)));
  const free = lost.flatMap(({ nonce }, n) => (nonce >= atHead && !receipts[n] ? [nonce] : []));
  const deleted = await deleteLost(sql, lease, free, head.number);
  if (deleted.length > 0) {
    const dropped = lost.flatMap(({ nonce, lostTo }) => (deleted.includes(nonce) ? [lostTo] : []));
    log.error(
      { wallet: address, nonces: deleted, dropped },
      "a deep reorganisation dropped the transactions that had taken nonces of ours",
    );
  }
  return new Set(deleted);
}
