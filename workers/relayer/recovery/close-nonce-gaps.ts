import { nonceGaps, storeFillers } from "../../ledger/fillers.ts";
import type { OpenTransaction } from "../../ledger/open-transactions.ts";
import { lacksFinal } from "../../ledger/outcomes.ts";
import type { Wallet } from "../wallets.ts";
import { emptyTransfer, type RecoveryContext } from "./context.ts";
import { LOOK_AFTER, type WalletView } from "./next-step.ts";

/**
 * Stores empty transfers for the nonces below an open transaction that neither the ledger nor the node's pool has a
 * transaction for. The next round of the recovery signs and sends them.
 */
export async function closeNonceGaps(
  { sql, chainId, log }: Pick<RecoveryContext, "sql" | "chainId" | "log">,
  wallet: Pick<Wallet, "address" | "lease">,
  lowest: OpenTransaction,
  { minedNonce, pooledNonce }: WalletView,
): Promise<void> {
  if (lowest.nonce <= minedNonce || lowest.openFor < LOOK_AFTER) return;
  // The node is behind, or a reorganisation went deep: then the final ones are opened again first. What looks like a gap may be
  // archived.
  if (await lacksFinal(sql, chainId, wallet.address, minedNonce)) return;
  const gaps = (await nonceGaps(sql, chainId, wallet.address, minedNonce)).filter(
    (gap) => gap >= pooledNonce && gap < lowest.nonce,
  );
  if (gaps.length === 0) return;
  await storeFillers(sql, wallet.lease, gaps, emptyTransfer(wallet));
  log.warn({ wallet: wallet.address, nonces: gaps }, "filled nonce gaps with empty transfers");
}
