/** Carries out what the API has prepared: the wallet signs each step, and what a step wants reported is reported. */
import { refusesPermit } from "./api-error.ts";
import { onChain } from "./chain.ts";
import type { Client } from "./client.ts";
import type { Schema } from "./operations.ts";
import { type PurchaseReceipt, reportPurchase, reportTransaction, waitUntilApproved } from "./report.ts";
import type { RetryPolicy } from "./retries.ts";
import { sendTransaction, signTypedData, waitUntilMined } from "./signing.ts";
import { WalletError } from "./wallet-error.ts";
import type { Wallet } from "./wallets.ts";

/** The answer of a `…/prepare` call. */
export type Prepared = Schema<"Prepared">;
/** What stands in the way of a prepared action. */
export type Issue = Schema<"PreparedIssue">;
/** One thing to be signed: a transaction or a permit. */
export type Step = Schema<"PreparedStep">;
export type TransactionStep = Extract<Step, { kind: "transaction" }>;
export type SignatureStep = Extract<Step, { kind: "signature" }>;

/** Whether the API has a mined transaction's report. The chain has its effect in each case. */
export type Reported =
  | { readonly state: "none" }
  | { readonly state: "recorded"; readonly record: unknown }
  /** It may be reported again later: `step.report` with the hash. */
  | { readonly state: "failed"; readonly error: unknown };

/** What became of a step. */
export type StepOutcome =
  /** The chain has its effect already, or the action does not need it. */
  | { readonly kind: "skipped"; readonly step: Step }
  | {
      readonly kind: "mined";
      readonly step: TransactionStep;
      readonly txHash: string;
      readonly report: Reported;
    }
  | { readonly kind: "bought"; readonly step: SignatureStep; readonly receipt: PurchaseReceipt };

export type Executed = { readonly outcomes: readonly StepOutcome[] };

export type ExecuteOptions = {
  /**
   * Called before the wallet is asked for a step: show it, and reject to stop. `position` counts from 0, over all steps.
   */
  readonly beforeStep: (step: Step, position: number) => void | Promise<void>;
  /** Called when the wallet has sent a transaction, which now waits for its block. */
  readonly onSent?: (step: TransactionStep, txHash: string) => void;
  /** Called when a permit is signed, or was not needed, and the service buys. */
  readonly onSigned?: (step: SignatureStep) => void;
  /** Called once a step is done. */
  readonly afterStep?: (outcome: StepOutcome) => void;
  /** Sends reports: a client with a key of the wallet. Without it no transaction is reported, and no purchase can be made. */
  readonly reporter?: Client | undefined;
  /** When a report or a purchase is sent again; as the specification says if left out. */
  readonly retries?: RetryPolicy;
  /** Ends the waiting. What was sent stays sent. */
  readonly signal?: AbortSignal;
};

/** The first issue that no step of the action removes. */
export const blockingIssue = ({ issues }: Prepared): Issue | undefined =>
  issues.find(({ blocking }) => blocking);

/** Whether the action needs a step of the wallet's owner. A permit that is complete still has a purchase to confirm. */
export const isToDo = (step: Step): boolean =>
  step.kind === "signature" || (step.status === "incomplete" && !step.optional);

/** The approval that takes the place of a permit which the wallet's code refuses; undefined for a wallet without code. */
export const approvalInstead = ({ steps }: Pick<Prepared, "steps">): TransactionStep | undefined =>
  steps.find(
    (step): step is TransactionStep => step.kind === "transaction" && step.id === "approve" && step.optional,
  );

/** A transaction that is mined is done, whether or not its report arrives. */
async function report(
  step: TransactionStep,
  txHash: string,
  { reporter, signal, retries }: ExecuteOptions,
): Promise<Reported> {
  if (!step.report || !reporter) return { state: "none" };
  try {
    const record = await reportTransaction(reporter, step.report, txHash, signal, retries);
    return { state: "recorded", record };
  } catch (error) {
    return { state: "failed", error };
  }
}

async function carryOut(
  step: Step,
  chainId: number,
  wallet: Wallet,
  options: ExecuteOptions,
): Promise<StepOutcome> {
  const { reporter, signal, retries } = options;
  if (step.kind === "transaction") {
    const txHash = await sendTransaction(wallet, step, chainId);
    options.onSent?.(step, txHash);
    await waitUntilMined(wallet, step, txHash, signal);
    return { kind: "mined", step, txHash, report: await report(step, txHash, options) };
  }
  if (!reporter) throw new Error("a purchase needs a client with an API key of the wallet");
  const signature = step.status === "incomplete" ? await signTypedData(wallet, step.typedData) : undefined;
  options.onSigned?.(step);
  const receipt = await reportPurchase(reporter, step.report, signature, signal, retries);
  return { kind: "bought", step, receipt };
}

/**
 * Lets a wallet sign the open steps of a prepared action in their order, waits until each transaction is mined, and reports
 * it. Steps that the action does not need are skipped: offer them apart. The approval beside a permit is carried out once the permit
 * was refused.
 * @throws WalletError when the owner refuses, the chain or the account is another one, or a transaction reverts or is
 *   replaced; ApiError when a purchase is refused; PurchaseInDoubt while the outcome of one is unknown; what `beforeStep` throws;
 *   the signal's reason. Steps before that are done: prepare again to go on. After a WalletError `failed` the wallet may have sent
 *   the transaction: look at its list first.
 * @example
 * const prepared = await client.post("/api/v1/redeem/prepare", { body: { from: wallet.address, epochId, usdAmount } });
 * await execute(prepared, wallet, { beforeStep: (step) => show(step.description), reporter: client });
 */
export async function execute(
  prepared: Prepared,
  wallet: Wallet,
  options: ExecuteOptions,
): Promise<Executed> {
  const { chainId, from, steps } = prepared;
  const issue = blockingIssue(prepared);
  if (issue) throw new Error(issue.message);
  if (wallet.address.toLowerCase() !== from.toLowerCase())
    throw new WalletError("no_account", `The action is for ${from}: choose this account in the wallet.`);
  const outcomes: StepOutcome[] = [];
  async function perform(step: Step, position: number): Promise<StepOutcome> {
    await options.beforeStep(step, position);
    await onChain(wallet.provider, chainId);
    options.signal?.throwIfAborted();
    return carryOut(step, chainId, wallet, options);
  }
  function finish(outcome: StepOutcome, position: number): void {
    outcomes[position] = outcome;
    options.afterStep?.(outcome);
  }
  for (const [position, step] of steps.entries()) {
    options.signal?.throwIfAborted();
    if (!isToDo(step)) {
      finish({ kind: "skipped", step }, position);
      continue;
    }
    try {
      finish(await perform(step, position), position);
    } catch (error) {
      const approval = refusesPermit(error, "signature") ? approvalInstead(prepared) : undefined;
      if (!approval || step.kind !== "signature" || !options.reporter) throw error;
      const place = steps.indexOf(approval);
      finish(await perform(approval, place), place);
      options.onSigned?.(step);
      await waitUntilApproved(options.reporter, step.report, options.signal, options.retries);
      finish(await carryOut({ ...step, status: "complete" }, chainId, wallet, options), position);
    }
  }
  return { outcomes };
}
