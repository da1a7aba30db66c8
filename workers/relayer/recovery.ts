import type { Sql } from "postgres";
import { errorText, type Logger } from "../../lib/log.ts";
import { lower } from "../../lib/lower.ts";
import { hasMinedFillers, nonceGaps, reopenFillers, storeFiller } from "../ledger/fillers.ts";
import { LeaseLost, raiseNextNonce } from "../ledger/leases.ts";
import { type OpenAttempt, type OpenTransaction, openTransactions } from "../ledger/open.ts";
import { markLost } from "../ledger/settled.ts";
import { type Call, storeForm } from "../ledger/signed.ts";
import type { Meter } from "../metrics/meter.ts";
import type { Chain } from "./chain.ts";
import { bumpedFees, initialFees } from "./fees.ts";
import type { MarketSource } from "./market.ts";
import { findNonceHolder } from "./nonce-holder.ts";
import { isProvenLost, LOOK_AFTER, nextStep, type WalletView } from "./plan.ts";
import type { Send } from "./sender.ts";
import type { SettleReceipts } from "./settle.ts";
import { signCall } from "./sign.ts";
import type { Wallet, Wallets } from "./wallets.ts";

/** Open transactions of a wallet that are looked at in one round, lowest nonces first. */
const ROUND = 200;
/** A search for the holder of a nonce that came to no end is repeated after this time, in ms. */
const SEARCH_AGAIN_MS = 30_000;
/** And one whose holder does not lie deep enough yet. */
const SEARCH_DEEPER_MS = 2000;
/** A plain transfer costs exactly this much gas. */
const TRANSFER_GAS = 21_000n;
/** Uses a nonce up and does nothing. */
const emptyTransfer = ({ address }: Wallet): Call => ({
  to: address,
  data: "0x",
  value: 0n,
  gasLimit: TRANSFER_GAS,
});

export type RecoveryOptions = {
  sql: Sql;
  chain: Pick<Chain, "block" | "nonce" | "receipt" | "senders">;
  chainId: number;
  confirmations: number;
  market: MarketSource;
  wallets: Wallets;
  send: Send;
  settleReceipts: SettleReceipts;
  /** The most that a gas may cost, in wei. */
  maxFee: bigint;
  /** How long a purchase may wait to be mined, in seconds. */
  ttl: number;
  meter: Meter;
  log: Logger;
};

/**
 * Brings open transactions of our wallets to their end, whatever became of the writer that signed them: sends stored
 * bytes again, finds those that were mined while nobody watched, raises the fee of one that is stuck, puts an empty
 * transfer in the place of one that waited too long, closes gaps.
 */
export function createRecovery(options: RecoveryOptions) {
  const {
    sql,
    chain,
    chainId,
    confirmations,
    market,
    wallets,
    send,
    settleReceipts,
    maxFee,
    ttl,
    meter,
    log,
  } = options;

  async function bump(wallet: Wallet, transaction: OpenTransaction, last: OpenAttempt): Promise<void> {
    const fees = bumpedFees(last, await market.now(), maxFee);
    if (!fees) {
      log.warn(
        { wallet: wallet.address, nonce: transaction.nonce },
        "stuck, and a higher fee is above the cap",
      );
      await send(last);
      return;
    }
    const call = last.cancels ? emptyTransfer(wallet) : transaction;
    const signed = await signCall(wallet, transaction.nonce, call, fees);
    if (!(await storeForm(sql, wallet.lease, transaction.id, { signed, cancels: last.cancels }))) return;
    meter.bumped(last.hash, signed.hash);
    log.info({ wallet: wallet.address, nonce: transaction.nonce, hash: signed.hash }, "raised a fee");
    await send(signed);
  }

  /** A node takes the place of what it has only for a higher fee; what it never saw may be replaced at any. */
  async function cancel(wallet: Wallet, transaction: OpenTransaction, last: OpenAttempt): Promise<void> {
    const now = await market.now();
    const taken = transaction.attempts.some((attempt) => attempt.taken);
    const fees = bumpedFees(last, now, maxFee) ?? (taken ? undefined : initialFees(now, maxFee));
    const { nonce } = transaction;
    if (!fees) {
      log.warn({ wallet: wallet.address, nonce }, "cannot be cancelled: a higher fee is above the cap");
      await send(last);
      return;
    }
    const signed = await signCall(wallet, nonce, emptyTransfer(wallet), fees);
    if (!(await storeForm(sql, wallet.lease, transaction.id, { signed, cancels: true }))) return;
    log.warn({ wallet: wallet.address, nonce, hash: signed.hash }, "cancels a purchase that was not mined");
    await send(signed);
  }

  /** Asks for the receipts of all forms of transactions whose nonce is used, and proves the worst where there are none. */
  async function look(transactions: readonly OpenTransaction[]): Promise<void> {
    const own = transactions.flatMap((transaction) =>
      transaction.attempts.map(({ hash, cancels }) => ({ ...transaction, hash, cancels })),
    );
    const receipts = (await Promise.all(own.map(({ hash }) => chain.receipt(hash)))).flatMap((r) => r ?? []);
    await settleReceipts(own, receipts);
    const found = new Set(receipts.map((receipt) => receipt.hash));
    const missing = transactions.filter(({ attempts }) => !attempts.some(({ hash }) => found.has(hash)));
    // One proof a round: each takes a search through the chain's past. Those that came to nothing wait for the others.
    const now = performance.now();
    if (missing.length === 0) searchAgainAt.clear();
    const next = missing.find(({ id }) => (searchAgainAt.get(id) ?? 0) <= now);
    if (next) await proveLost(next);
  }

  /** When a nonce may be searched for again, by its transaction's id. */
  const searchAgainAt = new Map<number, number>();

  async function proveLost({ id, wallet, nonce, attempts }: OpenTransaction): Promise<void> {
    const head = await chain.block("latest");
    if (!head) return;
    const holder = await findNonceHolder(chain, wallet, nonce, head.number).catch((error: unknown) => {
      log.warn({ wallet, nonce, error: errorText(error) }, "could not find out who used a nonce");
      return undefined;
    });
    const seen = holder && { hash: holder.hash, depth: head.number - holder.blockNumber };
    if (!holder || !isProvenLost(attempts, seen, confirmations)) {
      searchAgainAt.set(id, performance.now() + (holder ? SEARCH_DEEPER_MS : SEARCH_AGAIN_MS));
      return;
    }
    searchAgainAt.delete(id);
    log.error({ wallet, nonce, by: holder.hash }, "a nonce was used by a transaction that is not ours");
    await markLost(sql, id, lower(holder.hash));
  }

  /** Nonces below an open transaction that nothing of ours and nothing in the node's pool will use. */
  async function closeGaps(wallet: Wallet, lowest: OpenTransaction, view: WalletView): Promise<void> {
    const { minedNonce, pooledNonce } = view;
    if (lowest.nonce <= minedNonce || (lowest.attempts.at(-1)?.age ?? 0) < LOOK_AFTER) return;
    const gaps = await nonceGaps(sql, chainId, wallet.address, minedNonce);
    const fees = initialFees(await market.now(), maxFee);
    if (!fees) return;
    for (const nonce of gaps.filter((gap) => gap >= pooledNonce && gap < lowest.nonce)) {
      const call = emptyTransfer(wallet);
      const signed = await signCall(wallet, nonce, call, fees);
      if (!(await storeFiller(sql, wallet.lease, nonce, { call, signed }))) continue;
      log.warn({ wallet: wallet.address, nonce }, "closed a gap of nonces with an empty transfer");
      await send(signed);
    }
  }

  async function recoverWallet(wallet: Wallet): Promise<void> {
    const open = await openTransactions(sql, chainId, wallet.address, ROUND);
    const [lowest] = open;
    // Under load everything is young, and the node is asked nothing.
    const isYoung = ({ attempts }: OpenTransaction) => (attempts.at(-1)?.sentAgo ?? Infinity) < LOOK_AFTER;
    const fillers = await hasMinedFillers(sql, chainId, wallet.address);
    if (!fillers && (!lowest || open.every(isYoung))) return;
    const [minedNonce, pooledNonce, { baseFee }] = await Promise.all([
      chain.nonce(wallet.address, "latest"),
      chain.nonce(wallet.address, "pending"),
      market.now(),
    ]);
    // What somebody else sent from this wallet meanwhile has used nonces that must not be given out any more.
    await raiseNextNonce(sql, wallet.lease, pooledNonce);
    if (fillers) await reopenFillers(sql, chainId, wallet.address, minedNonce);
    if (!lowest) return;
    const view = { minedNonce, pooledNonce, baseFee };
    const steps = open.map((transaction) => ({
      transaction,
      step: nextStep(transaction, view, ttl),
    }));
    const looks = steps.flatMap(({ transaction, step }) => (step.do === "look" ? [transaction] : []));
    await Promise.all(steps.flatMap(({ step }) => (step.do === "send" ? [send(step.attempt)] : [])));
    for (const { transaction, step } of steps) {
      if (step.do === "bump") await bump(wallet, transaction, step.attempt);
      if (step.do === "cancel") await cancel(wallet, transaction, step.attempt);
    }
    if (looks.length > 0) await look(looks);
    if (!lowest.halted) await closeGaps(wallet, lowest, view);
  }

  return async function recover(): Promise<void> {
    const faults: unknown[] = [];
    for (const wallet of wallets.all()) {
      try {
        await recoverWallet(wallet);
      } catch (error) {
        // One wallet's trouble must not keep the others waiting.
        if (error instanceof LeaseLost) wallets.lost(error.lease);
        else faults.push(error);
      }
    }
    if (faults.length > 0) throw faults[0];
  };
}
