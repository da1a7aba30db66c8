/** Where an action is, from its form to its end. */
import type { Prepared, PurchaseInDoubt, PurchaseReceipt, StepOutcome } from "../../../../client/index.ts";

/** What an action has done. */
export type Result =
  | {
      readonly kind: "mined";
      readonly description: string;
      readonly txHash: string;
      /** The report did not arrive, which changes nothing on the chain. */
      readonly unreported: boolean;
    }
  | { readonly kind: "bought"; readonly receipt: PurchaseReceipt };

/** The result of a step; undefined for one that was skipped. */
export function resultOf(outcome: StepOutcome): Result | undefined {
  if (outcome.kind === "skipped") return undefined;
  if (outcome.kind === "bought") return { kind: "bought", receipt: outcome.receipt };
  const { step, txHash, report } = outcome;
  return { kind: "mined", description: step.description, txHash, unreported: report.state === "failed" };
}

export type Phase =
  /** The owner says how much. */
  | { readonly name: "form" }
  | { readonly name: "preparing" }
  /** The contracts would refuse it. */
  | { readonly name: "blocked"; readonly summary: string; readonly reason: string }
  /** Nothing is signed until the wallet is on the chain; `fault` says why it is not after a try. */
  | { readonly name: "wrong_chain"; readonly chainId: number; readonly fault: string | undefined }
  /** A message is shown before the wallet signs it for a key. */
  | { readonly name: "sign_in"; readonly message: string }
  /** The wallet has as many keys as it may have: its owner names one that the new key replaces. */
  | { readonly name: "replace_key"; readonly reason: string; readonly choose: (keyId: number) => void }
  /** A step is shown before the wallet is asked for it. */
  | { readonly name: "review"; readonly prepared: Prepared; readonly position: number }
  /** The wallet asks its owner. */
  | { readonly name: "asking"; readonly what: string }
  /** A transaction was sent and waits for its block. */
  | {
      readonly name: "pending";
      readonly prepared: Prepared;
      readonly position: number;
      readonly txHash: string;
    }
  /** The service buys. */
  | { readonly name: "buying" }
  /** The service has not said whether it has bought. */
  | { readonly name: "in_doubt"; readonly reason: string; readonly again: PurchaseInDoubt["again"] }
  | { readonly name: "done"; readonly results: readonly Result[] }
  /** It ended early. What was mined before stays; `txHash` is the transaction that failed. */
  | {
      readonly name: "stopped";
      readonly title: string;
      readonly reason: string;
      readonly txHash: string | undefined;
    };

/** Whether something was handed over, so that it goes on, or must be asked for again, also while nobody looks at it. */
export const goesOn = ({ name }: Phase): boolean =>
  name === "asking" || name === "pending" || name === "buying" || name === "in_doubt";
