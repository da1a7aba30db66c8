import { createBatcher } from "../../lib/batcher.ts";
import { costOf, type PricedCall } from "../ledger/call-cost.ts";
import { type Candidate, readCandidates } from "../ledger/gas-spending.ts";
import { SIGN_WITHIN_SECONDS } from "../ledger/waiting.ts";
import { type Choice, choosePurchases } from "./choose-purchases.ts";
import { initialFees } from "./fees.ts";
import type { RelayContext } from "./relay-purchase.ts";
import { sendRound } from "./send-round.ts";
import { resumeWallet, suspendWallet, type Wallet } from "./wallets.ts";

/** Most purchases that are signed together. */
const ROUND = 50;
/** A purchase that is to be signed. */
export type PurchaseCall = { id: string; call: PricedCall };

/** What a round decided, and the broadcast of each purchase that it signed, by the purchase's id. */
export type SigningResult = { choice: Choice; broadcasts: Map<string, Promise<void>> };

/** Signs a purchase in the wallet's next round, together with all others that wait for that round. */
export function signInNextRound(
  context: RelayContext,
  wallet: Wallet,
  purchase: PurchaseCall,
): Promise<SigningResult> {
  const round =
    context.rounds.get(wallet) ??
    createBatcher((purchases: PurchaseCall[]) => signRound(context, wallet, purchases), ROUND);
  context.rounds.set(wallet, round);
  return round(purchase);
}

/**
 * Signs as many of the purchases as the budgets and the wallet's balance allow, and begins to broadcast them. Rejects
 * when gas costs more than the cap, when the node or the database is down, and with LeaseLost.
 */
async function signRound(
  context: RelayContext,
  wallet: Wallet,
  purchases: readonly PurchaseCall[],
): Promise<SigningResult> {
  const { market, wallets, maxCallFee, budgets, onSent, meter } = context;
  const ids = purchases.map(({ id }) => id);
  meter.signing(ids);
  const [now, balance] = await Promise.all([market.now(), context.balanceOf(wallet.address)]);
  const fees = initialFees(now, maxCallFee);
  if (!fees) throw new Error("gas costs more than the cap");
  const wanted = new Map(
    purchases.map(({ id, call }) => [id, { id, call, cost: costOf(call, fees.maxFee) }]),
  );
  const { choice, sent } = await sendRound(context, wallet, fees, {
    kind: "purchase",
    candidates: (tx) => readCandidates(tx, wallet.lease, ids, SIGN_WITHIN_SECONDS),
    clients: (candidates: readonly Candidate[]) => candidates.map((candidate) => candidate.wallet),
    choose: (candidates, spending) => choosePurchases(candidates, wanted, spending, { ...budgets, balance }),
    ...budgets,
  });
  meter.signed(sent);
  if (choice.send.length > 0) onSent();
  if (choice.walletFault !== undefined) suspendWallet(wallets, wallet.address, choice.walletFault);
  else if (choice.send.length > 0) resumeWallet(wallets, wallet.address);
  return { choice, broadcasts: new Map(sent.map(({ id, broadcast }) => [id, broadcast])) };
}
