import { deleteLost, type NonceGap, nonceGaps, storeFillers } from "../../ledger/fillers.ts";
import type { OpenTransaction } from "../../ledger/open-transactions.ts";
import { lacksFinal } from "../../ledger/outcomes.ts";
import type { Wallet } from "../wallets.ts";
import { emptyTransfer, type RecoveryContext } from "./context.ts";
import { LOOK_AFTER, type WalletView } from "./next-step.ts";

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
