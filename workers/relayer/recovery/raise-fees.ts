import { costOf } from "../../ledger/assign-nonces.ts";
import { type Raise, reserveRaises, type Spending } from "../../ledger/gas-spending.ts";
import { type OpenAttempt, type OpenTransaction, storeForms } from "../../ledger/transactions.ts";
import { bumpedFees, initialFees } from "../fees.ts";
import { signCall, whatIsSigned } from "../signer.ts";
import type { Wallet } from "../wallets.ts";
import { emptyTransfer, type RecoveryContext } from "./context.ts";

/**
 * Chooses the transactions that get a higher fee: the lowest nonces first, until the day's gas budget or the wallet's balance does not
 * cover one. No higher nonce can be mined before that one.
 */
export function chooseRaises<Wanted extends Raise>(
  wanted: readonly Wanted[],
  spending: Spending,
  { balance, gasBudget }: { balance: bigint; gasBudget: bigint },
): Wanted[] {
  const chosen: Wanted[] = [];
  if (spending.relayerStopped) return chosen;
  let { all, reserved } = spending;
  for (const raise of wanted) {
    const more = raise.cost - raise.reserved;
    if (more > 0n) {
      all += more;
      reserved += more;
      if (reserved > balance || (all > gasBudget && !raise.isEmpty)) break;
    }
    chosen.push(raise);
  }
  return chosen;
}

/**
 * Reserves what these transactions cost, in the order of their nonces, as far as the day's gas budget and the wallet's balance
 * reach.
 * @returns those that may be signed.
 * @throws LeaseLost
 */
export async function affordRaises<Wanted extends Raise>(
  { sql, chain, gasBudgetOf }: Pick<RecoveryContext, "sql" | "chain" | "gasBudgetOf">,
  wallet: Wallet,
  wanted: readonly Wanted[],
): Promise<Wanted[]> {
  const gasBudget = gasBudgetOf(wallet.role);
  const balance = await chain.balance(wallet.address);
  return reserveRaises(sql, wallet.lease, (spending) =>
    chooseRaises(wanted, spending, { balance, gasBudget }),
  );
}

/** A transaction that is not mined at its fee, and the form to sign again. */
export type Stuck = { transaction: OpenTransaction; attempt: OpenAttempt };

/**
 * Signs stuck transactions again at a higher fee, as far as the fee cap, the day's gas budget and the wallet's balance
 * allow it.
 *
 * @returns the ids of those that were signed again.
 */
export async function raiseFees(
  context: RecoveryContext,
  wallet: Wallet,
  stuck: readonly Stuck[],
): Promise<ReadonlySet<number>> {
  const { sql, send, meter, log } = context;
  if (stuck.length === 0) return new Set();
  const priced = await Promise.all(stuck.map((one) => priceRaise(context, wallet, one)));
  const wanted = priced.flatMap((raise) => raise ?? []);
  const raises = await affordRaises(context, wallet, wanted);
  const unchanged = stuck.length - raises.length;
  if (unchanged > 0) {
    const reason = "MAX_FEE_GWEI, the gas budget or the wallet's balance does not allow a higher fee";
    log.warn({ wallet: wallet.address, transactions: unchanged, reason }, "transactions are stuck");
  }
  const forms = await whatIsSigned(
    raises.map(async ({ id, nonce, call, fees, cost, attempt }) => {
      const signed = await signCall(wallet, nonce, call, fees);
      return { transactionId: id, nonce, signed, cancels: attempt.cancels, cost, last: attempt.hash };
    }),
  );
  if (forms.length === 0) return new Set();
  const stored = await storeForms(sql, wallet.lease, forms);
  await Promise.all(
    forms.map(async ({ nonce, signed, last }) => {
      const form = stored.get(signed.hash);
      if (!form) return;
      meter.bumped(last, signed.hash);
      log.info({ wallet: wallet.address, nonce, hash: signed.hash }, "raised the fee of a stuck transaction");
      await send(signed, form);
    }),
  );
  return new Set(forms.map(({ transactionId }) => transactionId));
}

/** The call of a raise with its fees and its cost; undefined where a fee that helps would exceed the cap. */
async function priceRaise(
  { market, price, maxFee, maxCallFee }: RecoveryContext,
  wallet: Wallet,
  { transaction, attempt }: Stuck,
) {
  const { id, nonce, kind, reserved, attempts } = transaction;
  // The fee then decides whether the call or the empty transfer is mined; above the base fee or not.
  const isContested = attempts.some(({ cancels }) => cancels);
  const now = await market.now();
  const fees = bumpedFees(attempts, now, isContested ? maxFee : maxCallFee);
  if (!fees || (fees.maxFee < now.baseFee && !isContested)) return undefined;
  const isEmpty = attempt.cancels || kind === "filler";
  const call = await price(attempt.cancels ? emptyTransfer(wallet) : transaction);
  return { id, nonce, reserved, attempt, isEmpty, call, fees, cost: costOf(call, fees.maxFee) };
}

/**
 * Signs an empty transfer for the nonce of an unwanted purchase. A node that has accepted the purchase replaces it only
 * at a higher fee; otherwise any fee will do.
 *
 * @returns false where the wallet's signer did not sign.
 */
export async function cancelPurchase(
  context: RecoveryContext,
  wallet: Wallet,
  { id, nonce, attempts }: OpenTransaction,
  last: OpenAttempt,
): Promise<boolean> {
  const { sql, market, price, send, maxFee, log } = context;
  const now = await market.now();
  const taken = attempts.some((attempt) => !attempt.untaken);
  const fees = bumpedFees(attempts, now, maxFee) ?? (taken ? undefined : initialFees(now, maxFee));
  if (!fees) {
    log.warn(
      { wallet: wallet.address, nonce },
      "a purchase cannot be cancelled: a higher fee would exceed MAX_FEE_GWEI",
    );
    await send(attempts.findLast(({ cancels }) => cancels) ?? last, "again");
    return true;
  }
  const call = await price(emptyTransfer(wallet));
  const [signed] = await whatIsSigned([signCall(wallet, nonce, call, fees)]);
  if (!signed) return false;
  const cost = costOf(call, fees.maxFee);
  const form = { transactionId: id, signed, cancels: true, cost };
  const stored = (await storeForms(sql, wallet.lease, [form])).get(signed.hash);
  if (!stored) return true;
  log.warn(
    { wallet: wallet.address, nonce, hash: signed.hash },
    "cancelling a purchase that is stopped or was not mined in time",
  );
  await send(signed, stored);
  return true;
}
