import { formatEther } from "viem";
import type { Revert } from "../../lib/chain/reverts.ts";
import { codeCostOfGroup, costOfGroup, type WantedCall, type WantedGroup } from "../ledger/assign-nonces.ts";
import { type Candidate, codeBudgetOf, type Spending } from "../ledger/gas-spending.ts";
import type { WaitingPurchase } from "../ledger/waiting.ts";
import type { Failure } from "./purchase-failures.ts";
import * as failures from "./purchase-failures.ts";
import type { SimulatedRound } from "./simulate-round.ts";

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
  cost: { all: bigint; ofCode: bigint },
  spent: { all: bigint; wallet: bigint; ofCode: bigint },
  limits: Limits,
): failures.Failure | undefined {
  if (candidate.stopped) return failures.operatorStopped;
  if (candidate.paused) return failures.buyerPaused;
  if (candidate.lacks === "key") return failures.keyRevoked;
  if (candidate.lacks === "delegation") return failures.delegationEnded;
  if (spent.wallet + cost.all > limits.gasBudgetPerWallet) return failures.walletBudgetSpent;
  if (spent.all + cost.all > limits.gasBudget) return failures.dayBudgetSpent;
  const overShare = spent.ofCode + cost.ofCode > codeBudgetOf(limits.gasBudget);
  if (cost.ofCode > 0n && overShare) return failures.codeBudgetSpent;
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
  let { all, ofCode, reserved } = spending;
  for (const candidate of candidates) {
    const { id, wallet } = candidate;
    const group = wanted.get(id);
    if (!group) throw new Error(`purchase ${id} is not part of this round`);
    const cost = costOfGroup(group);
    const ofWallet = byWallet.get(wallet) ?? 0n;
    const codeCost = codeCostOfGroup(group);
    const costs = { all: cost, ofCode: codeCost };
    const failure = refusalOf(candidate, costs, { all, wallet: ofWallet, ofCode }, limits);
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
      ofCode += codeCost;
      reserved += cost;
    }
  }
  return choice;
}

/**
 * The result of a signing round for one purchase. `permit_sent`: its permit alone was sent. `premium_risen`: it would take a higher premium
 * than was quoted (6 decimals). `taken`: it no longer waited to be signed.
 */
export type SigningOutcome =
  | { kind: "sent" | "permit_sent"; broadcast: Promise<void> }
  | { kind: "refused"; failure: Failure }
  | { kind: "reverts"; revert: Revert }
  | { kind: "premium_risen"; quoted: bigint; premium: bigint }
  | { kind: "waits"; reason: unknown }
  | { kind: "taken" };
export type SigningOutcomes = ReadonlyMap<string, SigningOutcome>;

/** A revert is certain only if the purchases that ran before it are sent: one of them may have caused it. */
export function outcomesOf(
  purchases: readonly WaitingPurchase[],
  round: SimulatedRound,
  sent: SigningOutcomes,
): SigningOutcomes {
  const outcomes = new Map<string, SigningOutcome>();
  let isCertain = true;
  for (const [n, { id, quotedPremium }] of purchases.entries()) {
    const one = round.purchases[n] ?? { kind: "unknown", fault: "it was not simulated" };
    if (one.kind === "reverts") {
      outcomes.set(
        id,
        isCertain ? one : { kind: "waits", reason: `${one.revert.text}; purchases before it wait` },
      );
    } else if (one.kind === "unknown") {
      outcomes.set(id, { kind: "waits", reason: one.fault });
    } else if (one.kind === "buys" && one.premium > quotedPremium) {
      outcomes.set(id, { kind: "premium_risen", quoted: quotedPremium, premium: one.premium });
      isCertain = false;
    } else {
      const outcome = sent.get(id) ?? { kind: "taken" };
      outcomes.set(id, outcome);
      isCertain &&= outcome.kind === "sent";
    }
  }
  return outcomes;
}

/** A chosen one without a broadcast has its nonce, and the recovery signs it. Where a permit goes first, both are broadcast. */
export function outcomesOfChoice(
  { send, refuse, wait, walletFault }: Choice,
  broadcasts: ReadonlyMap<string, Promise<void>>,
): SigningOutcomes {
  const outcomes = new Map<string, SigningOutcome>();
  for (const call of send) {
    const own = broadcasts.get(call.id) ?? Promise.resolve();
    if (call.kind === "permit") {
      outcomes.set(call.purchaseId, { kind: "permit_sent", broadcast: own });
      continue;
    }
    const before = outcomes.get(call.id);
    const broadcast =
      before?.kind === "permit_sent" ? Promise.all([before.broadcast, own]).then(() => {}) : own;
    outcomes.set(call.id, { kind: "sent", broadcast });
  }
  for (const { id, failure } of refuse) outcomes.set(id, { kind: "refused", failure });
  for (const id of wait) {
    outcomes.set(id, { kind: "waits", reason: walletFault ?? "its permit has been sent" });
  }
  return outcomes;
}
