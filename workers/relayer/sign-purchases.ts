import { createBatcher } from "../../lib/batcher.ts";
import type { Candidate, Spending } from "../ledger/gas-spending.ts";
import { type Call, signPurchases } from "../ledger/signing.ts";
import { type Choice, choosePurchases } from "./choose-purchases.ts";
import { initialFees } from "./fees.ts";
import type { RelayContext } from "./relay-purchase.ts";
import { signCall } from "./sign-call.ts";
import { resumeWallet, suspendWallet, type Wallet } from "./wallets.ts";

/** Most purchases that are signed together. */
const ROUND = 50;
/** A purchase that is to be signed. */
export type PurchaseCall = { id: string; call: Call };

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
  const { sql, market, wallets, send, maxFee, budgets, onSent, meter } = context;
  const calls = new Map(purchases.map(({ id, call }) => [id, call]));
  meter.signing([...calls.keys()]);
  const [now, balance] = await Promise.all([market.now(), context.balanceOf(wallet.address)]);
  const fees = initialFees(now, maxFee);
  if (!fees) throw new Error("gas costs more than the cap");
  const costs = new Map([...calls].map(([id, { gasLimit }]) => [id, gasLimit * fees.maxFee]));
  const { choice, signed } = await signPurchases(sql, {
    lease: wallet.lease,
    calls,
    choose: (candidates: readonly Candidate[], spending: Spending) =>
      choosePurchases(candidates, costs, spending, { ...budgets, balance }),
    sign: (nonce, call) => signCall(wallet, nonce, call, fees),
  });
  meter.signed(signed);
  if (signed.length > 0) onSent();
  if (choice.walletFault !== undefined) suspendWallet(wallets, wallet.address, choice.walletFault);
  else if (signed.length > 0) resumeWallet(wallets, wallet.address);
  // Sent in the order of the nonces, and not awaited: the next round may sign meanwhile.
  return { choice, broadcasts: new Map(signed.map((one) => [one.id, send(one.signed)])) };
}
