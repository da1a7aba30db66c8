import type { Revert } from "../../lib/chain/reverts.ts";
import type { WaitingPurchase } from "../ledger/waiting.ts";
import type { Choice } from "./choose-purchases.ts";
import type { Failure } from "./purchase-failures.ts";
import type { SimulatedRound } from "./simulate-round.ts";

/**
 * What a signing round did with a purchase. `permit_sent`: its permit alone was sent. `premium_risen`: it would take a higher premium
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
