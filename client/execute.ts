/** Carries out what the API has prepared: the wallet signs each step, and what a step wants reported is reported. */
import type { Client } from "./client.ts";
import type { Schema } from "./operations.ts";
import { reportPurchase, reportTransaction } from "./report.ts";
import { onChain, sendTransaction, signTypedData } from "./signing.ts";
import { WalletError } from "./wallet-error.ts";
import type { Wallet } from "./wallets.ts";

/** The answer of a `…/prepare` call. */
export type Prepared = Schema<"Prepared">;
/** One thing to be signed: a transaction or a permit. */
export type Step = Schema<"PreparedStep">;
export type TransactionStep = Extract<Step, { kind: "transaction" }>;
export type SignatureStep = Extract<Step, { kind: "signature" }>;

/** What became of a step; `report` is the API's answer to it, null where the step has none. */
export type StepOutcome =
  | { readonly kind: "skipped"; readonly step: Step }
  | {
      readonly kind: "sent";
      readonly step: TransactionStep;
      readonly txHash: string;
      readonly report: unknown;
    }
  | { readonly kind: "signed"; readonly step: SignatureStep; readonly report: unknown };

export type Executed = { readonly outcomes: readonly StepOutcome[] };

export type ExecuteOptions = {
  /**
   * Called before the wallet is asked for a step: show it, and reject to stop. `position` counts from 0, over all steps.
   */
  readonly beforeStep: (step: Step, position: number) => void | Promise<void>;
  /** Called once a step is done. */
  readonly afterStep?: (outcome: StepOutcome) => void;
  /** Sends reports: a client with a key of the wallet. Without it no transaction is reported, and no purchase can be made. */
  readonly reporter?: Client;
  /** Ends the waiting. What was sent stays sent. */
  readonly signal?: AbortSignal;
};

/** The first issue that no step of the action removes. */
export const blockingIssue = ({ issues }: Prepared) => issues.find(({ blocking }) => blocking);

const isOpen = ({ status, optional }: Step): boolean => status === "incomplete" && !optional;

/** A complete permit still has a purchase to report. */
const isToDo = (step: Step): boolean => isOpen(step) || step.kind === "signature";

async function carryOut(step: Step, wallet: Wallet, options: ExecuteOptions): Promise<StepOutcome> {
  const { reporter, signal } = options;
  if (step.kind === "transaction") {
    const txHash = await sendTransaction(wallet, step, signal);
    const report =
      step.report && reporter ? await reportTransaction(reporter, step.report, txHash, signal) : null;
    return { kind: "sent", step, txHash, report };
  }
  if (!reporter) throw new Error("a purchase needs a client with an API key of the wallet");
  const signature = step.status === "incomplete" ? await signTypedData(wallet, step.typedData) : undefined;
  const report = await reportPurchase(reporter, step.report, signature, signal);
  return { kind: "signed", step, report };
}

/**
 * Lets a wallet sign the open steps of a prepared action in their order, waits until each transaction is mined, and reports
 * it. Steps that the action does not need are skipped: offer them apart.
 * @throws WalletError when the owner refuses, the chain or the account is another one, or a transaction reverts; ApiError and
 *   ConnectionError of a report; what `beforeStep` throws. Steps before that are done: prepare again to go on.
 * @example
 * const prepared = await client.post("/api/v1/redeem/prepare", { body: { from: wallet.address, epochId, usdAmount } });
 * await execute(prepared, wallet, { beforeStep: (step) => show(step.description), reporter: client });
 */
export async function execute(
  prepared: Prepared,
  wallet: Wallet,
  options: ExecuteOptions,
): Promise<Executed> {
  const issue = blockingIssue(prepared);
  if (issue) throw new Error(issue.message);
  if (wallet.address.toLowerCase() !== prepared.from.toLowerCase())
    throw new WalletError(
      "no_account",
      `The action is for ${prepared.from}: choose this account in the wallet.`,
    );
  await onChain(wallet.provider, prepared.chainId);
  const outcomes: StepOutcome[] = [];
  for (const [position, step] of prepared.steps.entries()) {
    options.signal?.throwIfAborted();
    let outcome: StepOutcome = { kind: "skipped", step };
    if (isToDo(step)) {
      await options.beforeStep(step, position);
      outcome = await carryOut(step, wallet, options);
    }
    outcomes.push(outcome);
    options.afterStep?.(outcome);
  }
  return { outcomes };
}
