import type { OpenAttempt, OpenTransaction } from "../../ledger/open-transactions.ts";
import { storeForm } from "../../ledger/signing.ts";
import { bumpedFees, initialFees } from "../fees.ts";
import { signCall } from "../sign-call.ts";
import type { Wallet } from "../wallets.ts";
import { emptyTransfer, type RecoveryContext } from "./context.ts";

/** Signs a stuck transaction again at a higher fee. Where that fee is above the cap, sends the old bytes again. */
export async function bumpFee(
  context: RecoveryContext,
  wallet: Wallet,
  transaction: OpenTransaction,
  last: OpenAttempt,
): Promise<void> {
  const { sql, market, send, maxFee, meter, log } = context;
  const { id, nonce } = transaction;
  const fees = bumpedFees(last, await market.now(), maxFee);
  if (!fees) {
    log.warn(
      { wallet: wallet.address, nonce },
      "a transaction is stuck, and a higher fee would exceed MAX_FEE_GWEI",
    );
    await send(last);
    return;
  }
  const call = last.cancels ? emptyTransfer(wallet) : transaction;
  const signed = await signCall(wallet, nonce, call, fees);
  if (!(await storeForm(sql, wallet.lease, id, { signed, cancels: last.cancels }))) return;
  meter.bumped(last.hash, signed.hash);
  log.info({ wallet: wallet.address, nonce, hash: signed.hash }, "raised the fee of a stuck transaction");
  await send(signed);
}

/**
 * Signs an empty transfer for the nonce of an unwanted purchase. A node that has accepted the purchase replaces it only
 * at a higher fee; otherwise any fee will do.
 */
export async function cancelPurchase(
  context: RecoveryContext,
  wallet: Wallet,
  { id, nonce, attempts }: OpenTransaction,
  last: OpenAttempt,
): Promise<void> {
  const { sql, market, send, maxFee, log } = context;
  const now = await market.now();
  const taken = attempts.some((attempt) => attempt.taken);
  const fees = bumpedFees(last, now, maxFee) ?? (taken ? undefined : initialFees(now, maxFee));
  if (!fees) {
    log.warn(
      { wallet: wallet.address, nonce },
      "a purchase cannot be cancelled: a higher fee would exceed MAX_FEE_GWEI",
    );
    await send(last);
    return;
  }
  const signed = await signCall(wallet, nonce, emptyTransfer(wallet), fees);
  if (!(await storeForm(sql, wallet.lease, id, { signed, cancels: true }))) return;
  log.warn(
    { wallet: wallet.address, nonce, hash: signed.hash },
    "cancelling a purchase that is stopped or was not mined in time",
  );
  await send(signed);
}
