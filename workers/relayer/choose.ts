import { formatEther } from "viem";
import type { Candidate, Spending } from "../ledger/spending.ts";
import {
  type Failure,
  operatorStopped,
  overBudget,
  relayerOverBudget,
  undelegated,
  walletRests,
} from "./failures.ts";

/** In wei: the relayer's balance, and what gas may cost in a UTC day in all and for the keys of one wallet. */
export type Limits = { balance: bigint; gasBudget: bigint; gasBudgetPerWallet: bigint };

/** What becomes of the purchases of a round: signed now, failed for good with nothing spent, or left for later. */
export type Choice = {
  sign: string[];
  refuse: { id: string; failure: Failure }[];
  /** Why the relayer's wallet can sign no more now; undefined when it can. */
  full: string | undefined;
  wait: string[];
};

/** The failure that a purchase has come to since it was accepted, or that the budgets are to it. */
function refusal(
  candidate: Candidate,
  cost: bigint,
  spent: { all: bigint; wallet: bigint },
  limits: Limits,
): Failure | undefined {
  if (candidate.stopped) return operatorStopped;
  if (candidate.rests) return walletRests;
  if (!candidate.allowed) return undelegated;
  if (spent.wallet + cost > limits.gasBudgetPerWallet) return overBudget;
  if (spent.all + cost > limits.gasBudget) return relayerOverBudget;
  return undefined;
}

/**
 * Chooses which purchases of a round are signed, oldest first. `costs` are the most that the gas of each may cost, in
 * wei, by its id: what is in no block yet counts with that.
 */
export function choose(
  candidates: readonly Candidate[],
  costs: ReadonlyMap<string, bigint>,
  spending: Spending,
  limits: Limits,
): Choice {
  const choice: Choice = { sign: [], refuse: [], full: undefined, wait: [] };
  const byWallet = new Map(spending.byWallet);
  let { all, reserved } = spending;
  for (const candidate of candidates) {
    const { id, wallet } = candidate;
    const cost = costs.get(id);
    if (cost === undefined) throw new Error(`purchase ${id} was not asked for`);
    const ofWallet = byWallet.get(wallet) ?? 0n;
    const failure = refusal(candidate, cost, { all, wallet: ofWallet }, limits);
    if (failure) {
      choice.refuse.push({ id, failure });
    } else if (spending.relayerStopped || reserved + cost > limits.balance) {
      choice.full = spending.relayerStopped
        ? "the operator has stopped the wallet"
        : `its balance of ${formatEther(limits.balance)} ETH does not cover what is on its way and ${formatEther(cost)} ETH more`;
      choice.wait.push(id);
    } else {
      choice.sign.push(id);
      byWallet.set(wallet, ofWallet + cost);
      all += cost;
      reserved += cost;
    }
  }
  return choice;
}
