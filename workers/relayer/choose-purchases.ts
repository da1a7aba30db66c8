import { formatEther } from "viem";
import type { WantedCall } from "../ledger/assign-nonces.ts";
import type { Candidate, Spending } from "../ledger/gas-spending.ts";
import * as failures from "./purchase-failures.ts";

/** In wei: the relayer's balance, and the gas budgets of a UTC day for all purchases and for one wallet's keys. */
export type Limits = { balance: bigint; gasBudget: bigint; gasBudgetPerWallet: bigint };

/** The purchases of a round: to send now, to fail with nothing spent, and to try again later. */
export type Choice = {
  send: WantedCall[];
  refuse: { id: string; failure: failures.Failure }[];
  wait: string[];
  /** Why the relayer's wallet can sign no more now; undefined when it can. */
  walletFault: string | undefined;
};

/** Why this purchase may no longer be signed; undefined when it may. */
function refusalOf(
  candidate: Candidate,
  cost: bigint,
  spent: { all: bigint; wallet: bigint },
  limits: Limits,
): failures.Failure | undefined {
  if (candidate.stopped) return failures.operatorStopped;
  if (candidate.paused) return failures.walletPaused;
  if (!candidate.delegated) return failures.delegationEnded;
  if (spent.wallet + cost > limits.gasBudgetPerWallet) return failures.walletBudgetSpent;
  if (spent.all + cost > limits.gasBudget) return failures.dayBudgetSpent;
  return undefined;
}

/**
 * Chooses which purchases of a round are sent, oldest first. `wanted` holds their calls by the purchases' ids; a purchase
 * that is not mined yet counts towards the budgets with the most that it may cost.
 */
export function choosePurchases(
  candidates: readonly Candidate[],
  wanted: ReadonlyMap<string, WantedCall>,
  spending: Spending,
  limits: Limits,
): Choice {
  const choice: Choice = { send: [], refuse: [], wait: [], walletFault: undefined };
  const byWallet = new Map(spending.byWallet);
  let { all, reserved } = spending;
  for (const candidate of candidates) {
    const { id, wallet } = candidate;
    const call = wanted.get(id);
    if (!call) throw new Error(`purchase ${id} is not part of this round`);
    const { cost } = call;
    const ofWallet = byWallet.get(wallet) ?? 0n;
    const failure = refusalOf(candidate, cost, { all, wallet: ofWallet }, limits);
    if (failure) {
      choice.refuse.push({ id, failure });
    } else if (spending.relayerStopped || reserved + cost > limits.balance) {
      choice.walletFault = spending.relayerStopped
        ? "the operator has stopped the wallet"
        : `its balance of ${formatEther(limits.balance)} ETH does not cover its pending transactions and ${formatEther(cost)} ETH more`;
      choice.wait.push(id);
    } else {
      choice.send.push(call);
      byWallet.set(wallet, ofWallet + cost);
      all += cost;
      reserved += cost;
    }
  }
  return choice;
}
