import { nonceGaps, storeFiller } from "../../ledger/fillers.ts";
import type { OpenTransaction } from "../../ledger/open-transactions.ts";
import { initialFees } from "../fees.ts";
import { signCall } from "../sign-call.ts";
import type { Wallet } from "../wallets.ts";
import { emptyTransfer, type RecoveryContext } from "./context.ts";
import { LOOK_AFTER, type WalletView } from "./next-step.ts";

/**
 * Sends empty transfers for the nonces below an open transaction that neither the ledger nor the node's pool has a
 * transaction for.
 */
export async function closeNonceGaps(
  { sql, chainId, market, send, maxFee, log }: RecoveryContext,
  wallet: Wallet,
  lowest: OpenTransaction,
  { minedNonce, pooledNonce }: WalletView,
): Promise<void> {
  if (lowest.nonce <= minedNonce || (lowest.attempts.at(-1)?.age ?? 0) < LOOK_AFTER) return;
  const gaps = await nonceGaps(sql, chainId, wallet.address, minedNonce);
  const fees = initialFees(await market.now(), maxFee);
  if (!fees) return;
  for (const nonce of gaps.filter((gap) => gap >= pooledNonce && gap < lowest.nonce)) {
    const call = emptyTransfer(wallet);
    const signed = await signCall(wallet, nonce, call, fees);
    if (!(await storeFiller(sql, wallet.lease, nonce, { call, signed }))) continue;
    log.warn({ wallet: wallet.address, nonce }, "filled a nonce gap with an empty transfer");
    await send(signed);
  }
}
