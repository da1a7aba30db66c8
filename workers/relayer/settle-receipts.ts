import { type Address, type Hex, parseAbi } from "viem";
import { findRevert, type Revert } from "../../lib/chain/reverts.ts";
import { isConnectionError } from "../../lib/db/connect.ts";
import { errorText } from "../../lib/log.ts";
import { type Outcome, type SettledPurchase, settle } from "../ledger/outcomes.ts";
import type { OwnTransaction } from "../ledger/transactions.ts";
import type { Receipt } from "./chain.ts";
import type { ChainContext } from "./chain-context.ts";
import { purchasedPolicy } from "./purchase-calls.ts";
import { lackedFunds, lackedFundsInBlock, minedFailure, replacedFailure } from "./purchase-failures.ts";

/**
 * The outcome of one of our transactions, from its receipt. `revert` is the reason of a transaction that reverted,
 * where it is known.
 */
export function outcomeOf(
  transaction: Pick<OwnTransaction, "kind" | "cancels">,
  { hash, blockNumber, blockHash, succeeded, logs, gasCost }: Receipt,
  coverRouter: Address,
  revert: Revert | undefined,
): Outcome {
  const mined = { hash, blockNumber, blockHash, gasCost };
  if (transaction.kind === "filler") return { ...mined, kind: "done" };
  if (transaction.cancels) return { ...mined, kind: "replaced", ...replacedFailure(blockNumber) };
  if (!succeeded) return { ...mined, kind: "reverted", ...minedFailure(blockNumber, revert) };
  if (transaction.kind !== "purchase") return { ...mined, kind: "done" };
  const policy = purchasedPolicy(logs, coverRouter);
  if (policy) return { ...mined, kind: "bought", policyId: policy.policyId, premiumPaid: policy.premiumPaid };
  // The protocol does not do this; a deployment file with a wrong address for the router would.
  const message = `The transaction was mined in block ${blockNumber} and bought no policy`;
  return { ...mined, kind: "reverted", code: "onchain_revert", message, failedBy: "protocol" };
}

const permitNonceAbi = parseAbi(["function nonces(address owner) view returns (uint256)"]);

type SettlerContext = Pick<ChainContext, "sql" | "chain" | "meter" | "log"> & { coverRouter: Address };

/** @returns the number of outcomes that were read. A failure that the node does not confirm has none yet. */
export type SettleReceipts = (
  own: readonly OwnTransaction[],
  receipts: readonly Receipt[],
) => Promise<number>;

/** Stores the outcomes of our transactions from their receipts. Storing an outcome twice changes nothing. */
export async function settleReceipts(
  context: SettlerContext,
  own: readonly OwnTransaction[],
  receipts: readonly Receipt[],
): Promise<number> {
  const { meter, log } = context;
  const byHash = new Map<Hex, OwnTransaction>(own.map((transaction) => [transaction.hash, transaction]));
  const read = await Promise.all(
    receipts.flatMap((receipt) => {
      const transaction = byHash.get(receipt.hash);
      return transaction ? [readOutcome(context, transaction, receipt)] : [];
    }),
  );
  const outcomes = read.filter((outcome) => outcome !== undefined);
  const settled: SettledPurchase[] = [];
  // One wallet after the other: a wallet's rows are not held while another wallet's are waited for.
  for (const wallet of new Set(own.map((transaction) => transaction.wallet))) {
    const ofWallet = outcomes.filter(({ hash }) => byHash.get(hash)?.wallet === wallet);
    settled.push(...(await storeOutcomes(context, ofWallet)));
  }
  meter.settled(outcomes.map(({ hash }) => hash));
  if (settled.length === 0) return outcomes.length;
  log.info({ purchases: settled.length }, "settled purchases");
  // A purchase counts when its outcome is stored for the first time, and again after a reorganisation.
  const costs = new Map(receipts.map(({ hash, gasCost }) => [hash, gasCost]));
  for (const { kind, keyId, hash } of settled) meter.ended(kind, keyId, costs.get(hash) ?? 0n);
  return outcomes.length;
}

/** Reads the outcome from a receipt. A failure is read a second time, and the second answer decides; undefined without one. */
async function readOutcome(
  context: SettlerContext,
  transaction: OwnTransaction,
  receipt: Receipt,
): Promise<Outcome | undefined> {
  const { chain, coverRouter, log } = context;
  const isJudged = transaction.kind !== "filler" && !transaction.cancels;
  if (!isJudged || didAsAsked(transaction, receipt, coverRouter))
    return outcomeOf(transaction, receipt, coverRouter, undefined);
  const again = await secondReceipt(chain, transaction, receipt.hash, coverRouter);
  if (again?.blockHash !== receipt.blockHash) {
    log.warn(
      { hash: receipt.hash },
      "the node does not repeat that a transaction failed: it is read again later",
    );
    return undefined;
  }
  const revert = again.succeeded ? undefined : await revertReason(context, transaction, again);
  const outcome = outcomeOf(transaction, again, coverRouter, revert);
  if (outcome.kind !== "reverted" || !(await failedByOwner(context, transaction, again))) return outcome;
  return { ...outcome, failedBy: "buyer" };
}

/** Whether a contract's own code refused its permit: nobody has used the same one in its block. Not where the node does not tell. */
async function failedByOwner(
  { chain, log }: SettlerContext,
  { kind, to, runsCodeOf: owner }: OwnTransaction,
  { hash, blockNumber }: Receipt,
): Promise<boolean> {
  if (kind !== "permit" || owner === null) return false;
  const usedAt = (block: bigint) =>
    chain.client.readContract({
      ...{ address: to, abi: permitNonceAbi, functionName: "nonces", args: [owner], blockNumber: block },
    });
  try {
    const [before, after] = await Promise.all([usedAt(blockNumber - 1n), usedAt(blockNumber)]);
    return before === after;
  } catch (error) {
    log.warn({ hash, err: errorText(error) }, "could not read whose fault a permit's revert is");
    return false;
  }
}

/** Whether the receipt shows that a call did what it was for: a purchase emits the router's event. */
export const didAsAsked = (
  { kind }: Pick<OwnTransaction, "kind">,
  { succeeded, logs }: Receipt,
  coverRouter: Address,
): boolean => succeeded && (kind !== "purchase" || purchasedPolicy(logs, coverRouter) !== undefined);

/** The receipt once more; where it lacks the router's event, with what the node's index of logs has. */
async function secondReceipt(
  chain: SettlerContext["chain"],
  { kind }: Pick<OwnTransaction, "kind">,
  hash: Hex,
  coverRouter: Address,
): Promise<Receipt | undefined> {
  const receipt = await chain.receipt(hash);
  if (!receipt?.succeeded || didAsAsked({ kind }, receipt, coverRouter)) return receipt;
  return { ...receipt, logs: await chain.logsOf(coverRouter, receipt) };
}

/**
 * The reason of a revert, from the same call in the state after its block. Where that call succeeds, or fails without a reason, the
 * true one may have been undone within the block: it is known only if it was the buyer's lack of funds.
 */
async function revertReason(
  { chain, log }: SettlerContext,
  transaction: OwnTransaction,
  receipt: Receipt,
): Promise<Revert | undefined> {
  const { kind, wallet: from, to, data, value, gasLimit: gas } = transaction;
  const { hash, blockNumber } = receipt;
  const unread = (error: unknown) =>
    log.warn({ hash, err: errorText(error) }, "could not read the reason of a revert");
  let after: Revert | undefined;
  try {
    await chain.call({ from, to, data, value, gas }, blockNumber);
  } catch (error) {
    after = findRevert(error);
    if (!after) unread(error);
    if (after?.data !== "0x") return after;
  }
  if (kind !== "purchase") return after;
  try {
    return (await lackedFunds(chain, transaction, receipt)) ? lackedFundsInBlock : after;
  } catch (error) {
    unread(error);
    return after;
  }
}

/** Stores outcomes together. When the ledger refuses them, stores one by one, so that one cannot block the others. */
async function storeOutcomes(
  context: SettlerContext,
  outcomes: readonly Outcome[],
): Promise<SettledPurchase[]> {
  try {
    return await settle(context.sql, outcomes);
  } catch (error) {
    if (isConnectionError(error)) throw error;
    if (outcomes.length > 1) {
      const settled: SettledPurchase[] = [];
      for (const outcome of outcomes) settled.push(...(await storeOutcomes(context, [outcome])));
      return settled;
    }
    // The purchase stays open, and the recovery tries again.
    const hashes = outcomes.map(({ hash }) => hash);
    context.log.error({ hashes, err: errorText(error) }, "an outcome could not be stored");
    return [];
  }
}
