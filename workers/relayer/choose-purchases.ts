import { formatEther } from "viem";
import { costOfGroup, type WantedCall, type WantedGroup } from "../ledger/assign-nonces.ts";
import type { Candidate, Spending } from "../ledger/gas-spending.ts";
import * as failures from "./purchase-failures.ts";

/** In wei: the relayer's balance, and the gas budgets of a UTC day for all purchases and for one wallet's keys. */
export type Limits = { balance: bigint; gasBudget: bigint; gasBudgetPerWallet: bigint };

/** The calls that are sent now, and the purchases that fail with nothing spent, or are tried again later. */
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
  if (candidate.lacks === "key") return failures.keyRevoked;
  if (candidate.lacks === "delegation") return failures.delegationEnded;
  if (spent.wallet + cost > limits.gasBudgetPerWallet) return failures.walletBudgetSpent;
  if (spent.all + cost > limits.gasBudget) return failures.dayBudgetSpent;
  return undefined;
}

/**
 * Chooses which purchases of a round are sent, oldest first. `wanted` holds their calls by the purchases' ids: a permit before its
 * purchase, or alone. What is not mined yet counts towards the budgets with the most that it may cost.
 */
export function choosePurchases(
  candidates: readonly Candidate[],
  wanted: ReadonlyMap<string, WantedGroup>,
  spending: Spending,
  limits: Limits,
): Choice {
  const choice: Choice = { send: [], refuse: [], wait: [], walletFault: undefined };
  const byWallet = new Map(spending.byWallet);
  let { all, reserved } = spending;
  for (const candidate of candidates) {
    const { id, wallet } = candidate;
    const group = wanted.get(id);
    if (!group) throw new Error(`purchase ${id} is not part of this round`);
    const cost = costOfGroup(group);
    const ofWallet = byWallet.get(wallet) ?? 0n;
    const failure = refusalOf(candidate, cost, { all, wallet: ofWallet }, limits);
    if (failure) {
      choice.refuse.push({ id, failure });
    } else if (candidate.permitSent && group.calls.some(({ kind }) => kind === "permit")) {
      // Another round has sent it since the purchase was read.
      choice.wait.push(id);
    } else if (spending.relayerStopped || reserved + cost > limits.balance) {
      choice.walletFault = spending.relayerStopped
        ? "the operator has stopped the wallet"
        : `its balance of ${formatEther(limits.balance)} ETH does not cover its pending transactions and ${formatEther(cost)} ETH more`;
      choice.wait.push(id);
    } else {
      choice.send.push(...group.calls);
      byWallet.set(wallet, ofWallet + cost);
      all += cost;
      reserved += cost;
    }
  }
  return choice;
}
