import { hasMinedFillers, reopenFillers } from "../../ledger/fillers.ts";
import { LeaseLost, raiseNextNonce } from "../../ledger/leases.ts";
import { type OpenTransaction, openTransactions } from "../../ledger/open-transactions.ts";
import { forgetLease, leasedWallets, type Wallet } from "../wallets.ts";
import { closeNonceGaps } from "./close-nonce-gaps.ts";
import type { RecoveryContext } from "./context.ts";
import { LOOK_AFTER, nextStep } from "./next-step.ts";
import { bumpFee, cancelPurchase } from "./replace-transaction.ts";
import { settleUsedNonces } from "./used-nonces.ts";

/** Most open transactions of a wallet that one round handles, lowest nonces first. */
const ROUND = 200;

/**
 * Takes open transactions of our wallets to an outcome, also those that another writer signed: sends stored bytes
 * again, finds transactions that were mined while no writer watched, raises the fee of a stuck one, replaces a purchase
 * that waited too long with an empty transfer, closes nonce gaps. Rejects when the node or the database is down.
 */
export async function recover(context: RecoveryContext): Promise<void> {
  const faults: unknown[] = [];
  for (const wallet of leasedWallets(context.wallets)) {
    try {
      await recoverWallet(context, wallet);
    } catch (error) {
      // A fault of one wallet must not stop the recovery of the others.
      if (error instanceof LeaseLost) forgetLease(context.wallets, error.lease);
      else faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
}

async function recoverWallet(context: RecoveryContext, wallet: Wallet): Promise<void> {
  const { sql, chain, chainId, market, send, ttl } = context;
  const { address, lease } = wallet;
  const open = await openTransactions(sql, chainId, address, ROUND);
  const [lowest] = open;
  // Under load all transactions are young, and the node is sent no request.
  const isYoung = ({ attempts }: OpenTransaction) => (attempts.at(-1)?.sentAgo ?? Infinity) < LOOK_AFTER;
  const fillers = await hasMinedFillers(sql, chainId, address);
  if (!fillers && (!lowest || open.every(isYoung))) return;
  const [minedNonce, pooledNonce, { baseFee }] = await Promise.all([
    chain.nonce(address, "latest"),
    chain.nonce(address, "pending"),
    market.now(),
  ]);
  // Another program may have sent from this wallet: nonces that it used must not be given out.
  await raiseNextNonce(sql, lease, pooledNonce);
  if (fillers) await reopenFillers(sql, chainId, address, minedNonce);
  if (!lowest) return;
  const view = { minedNonce, pooledNonce, baseFee };
  const steps = open.map((transaction) => ({ transaction, step: nextStep(transaction, view, ttl) }));
  const used = steps.flatMap(({ transaction, step }) => (step.do === "look" ? [transaction] : []));
  await Promise.all(steps.flatMap(({ step }) => (step.do === "send" ? [send(step.attempt)] : [])));
  for (const { transaction, step } of steps) {
    if (step.do === "bump") await bumpFee(context, wallet, transaction, step.attempt);
    if (step.do === "cancel") await cancelPurchase(context, wallet, transaction, step.attempt);
  }
  if (used.length > 0) await settleUsedNonces(context, used);
  if (!lowest.halted) await closeNonceGaps(context, wallet, lowest, view);
}
