import { findRevert, isOutOfGas } from "../../lib/chain/reverts.ts";
import { withMargin } from "../../lib/ledger/gas-limits.ts";
import { errorText } from "../../lib/log.ts";
import { type Call, costOf, type PricedCall } from "../ledger/assign-nonces.ts";
import { withMark } from "../ledger/intent-marks.ts";
import { LeaseLost } from "../ledger/leases.ts";
import {
  giveUp,
  isAnyWaiting,
  lockGroups,
  type OverdueGroup,
  overdueServiceTransactions,
  type ServiceTransaction,
  type ServiceTransactionGroup,
  waitingServiceTransactions,
} from "../ledger/service-transactions.ts";
import { lookAgainIn } from "../ledger/waiting.ts";
import type { ChainContext } from "../relayer/chain-context.ts";
import { initialFees } from "../relayer/fees.ts";
import type { Failure } from "../relayer/purchase-failures.ts";
import { sendRound } from "../relayer/send-round.ts";
import { canSign, forgetLease, leasedWallets, type Wallet } from "../relayer/wallets.ts";
import { chooseServiceTransactions } from "./choose.ts";
import * as failures from "./failures.ts";

/** Most claims and service transactions of the upkeep that are signed together. */
const ROUND = 50;
/** A service transaction that cannot be signed now is tried again after this time, in seconds. */
const RETRY_SECONDS = 1;
/** Most waiting groups with a remembered last reason: memory must be bounded. */
const MAX_REASONS = 1000;

export type ServiceTransactionContext = Omit<ChainContext, "meter"> & {
  /** The most that gas may cost on the chain in a UTC day, in wei. */
  readonly gasBudget: bigint;
  /** The most gas that a call's simulation may take. */
  readonly mostGas: bigint;
  /** The last logged reason of each waiting group, so that a reason is logged once and not every second. */
  readonly lastReasons: Map<string, string>;
};

/**
 * Takes service transactions from `accepted` to `broadcast`: simulates them, gives them nonces, stores their signed bytes, sends
 * them. Any writer gives up service transactions that were not signed in time. Rejects when the database is down; the next round
 * finds the rows.
 */
export async function relayServiceTransactions(context: ServiceTransactionContext): Promise<void> {
  if (!(await isAnyWaiting(context.sql, context.chainId))) return;
  await giveUpOverdue(context);
  for (const wallet of leasedWallets(context.wallets).filter(canSign)) {
    try {
      await relayWalletServiceTransactions(context, wallet);
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      forgetLease(context.wallets, error.lease);
    }
  }
}

async function relayWalletServiceTransactions(
  context: ServiceTransactionContext,
  wallet: Wallet,
): Promise<void> {
  const { sql, chain, chainId, market, maxCallFee, gasBudget } = context;
  const groups = await waitingServiceTransactions(sql, chainId, wallet.address, ROUND);
  if (groups.length === 0) return;
  const simulated = (await Promise.all(groups.map((group) => simulateGroup(context, wallet, group)))).flatMap(
    (group) => group ?? [],
  );
  if (simulated.length === 0) return;
  const [now, balance] = await Promise.all([market.now(), chain.balance(wallet.address)]);
  const fees = initialFees(now, maxCallFee);
  if (!fees) {
    await Promise.all(simulated.map(({ group }) => postpone(context, group, failures.gasTooExpensive)));
    return;
  }
  const wanted = simulated.map(({ group, calls }) => ({
    id: group.id,
    calls: calls.map(({ id, call, runsCodeOf }) => {
      const kind = "service_transaction" as const;
      return { kind, id, call, cost: costOf(call, fees.maxFee), runsCodeOf };
    }),
  }));
  const { choice, sent } = await sendRound(context, wallet, fees, {
    candidates: (tx) => lockGroups(tx, wanted),
    clients: () => [],
    choose: (candidates, spending) => chooseServiceTransactions(candidates, spending, { balance, gasBudget }),
  });
  const chosen = new Set(choice.send.map(({ id }) => id));
  const left = simulated.filter(({ calls }) => !calls.every(({ id }) => chosen.has(id)));
  await Promise.all(
    left.map(({ group }) =>
      postpone(context, group, choice.overBudget.has(group.id) ? failures.gasBudgetSpent : undefined),
    ),
  );
  // The recovery sends bytes again that a node did not take.
  await Promise.allSettled(sent.map(({ broadcast }) => broadcast));
}

type SimulatedGroup = {
  group: ServiceTransactionGroup;
  calls: ({ call: PricedCall } & Pick<ServiceTransaction, "id" | "runsCodeOf">)[];
};

/** The group with the gas limits of its calls, by estimates where none is fixed; undefined when it failed or is to be tried again. */
async function simulateGroup(
  context: ServiceTransactionContext,
  wallet: Wallet,
  group: ServiceTransactionGroup,
): Promise<SimulatedGroup | undefined> {
  const { chain, mostGas } = context;
  const calls: SimulatedGroup["calls"] = [];
  for (const { id, purpose, call, gasLimit: fixed, runsCodeOf } of group.serviceTransactions) {
    try {
      // Once one of a claim's transfers is signed, the other is owed, whatever a simulation says.
      const limit = group.partlySigned ? undefined : mostGas;
      const marked = await markedCall(context, wallet, id, call);
      const gasLimit =
        fixed ?? withMargin(await chain.estimateGas({ from: wallet.address, ...marked }, limit));
      calls.push({ id, call: await context.price({ ...marked, gasLimit }), runsCodeOf });
    } catch (error) {
      const failure = simulatedFailure(purpose, error, mostGas);
      if (failure && !group.partlySigned) await fail(context, group, failure);
      else await retryLater(context, group, failure?.message ?? errorText(error));
      return undefined;
    }
  }
  return { group, calls };
}

/** The call with its mark; a grant of ether has none. */
async function markedCall(
  { markOf, chainId }: ServiceTransactionContext,
  { address }: Wallet,
  id: string,
  call: Omit<Call, "gasLimit">,
): Promise<Omit<Call, "gasLimit">> {
  if (call.data === "0x") return call;
  const mark = await markOf({ chainId, address }, { kind: "service_transaction", id });
  return { ...call, data: withMark(call.data, mark) };
}

/** Why a simulation fails the service transaction for good; undefined when the node failed. */
function simulatedFailure(purpose: string, error: unknown, most: bigint): Failure | undefined {
  const revert = findRevert(error);
  if (revert) return failures.wouldRevert(purpose, revert);
  return isOutOfGas(error) ? failures.tooMuchGas(most) : undefined;
}

async function fail(
  { sql, log }: ServiceTransactionContext,
  group: Pick<ServiceTransactionGroup, "id" | "claimId">,
  failure: Failure,
): Promise<void> {
  if (await giveUp(sql, group, failure))
    log.warn({ serviceTransaction: group.id, ...failure }, "a service transaction failed");
}

async function retryLater(
  { sql, lastReasons, log }: ServiceTransactionContext,
  group: ServiceTransactionGroup,
  reason: string,
): Promise<void> {
  if (lastReasons.get(group.id) !== reason)
    log.warn({ serviceTransaction: group.id, reason }, "a service transaction has to wait");
  if (lastReasons.size >= MAX_REASONS) lastReasons.clear();
  lastReasons.set(group.id, reason);
  await lookAgainIn(
    sql,
    group.serviceTransactions.map(({ id }) => id),
    RETRY_SECONDS,
  );
}

/** Retries a group later, or, where gas is not available for a claim, fails it: its wallet may claim again later. */
async function postpone(
  context: ServiceTransactionContext,
  group: ServiceTransactionGroup,
  fault: string | undefined,
): Promise<void> {
  if (fault !== undefined && group.claimId !== null && !group.partlySigned) {
    await fail(context, group, failures.gasUnavailable(fault));
  } else {
    await retryLater(context, group, fault ?? "the balance or the operator's stop does not allow it");
  }
}

/**
 * Gives up service transactions that were not signed in time. Reads the wallets' balances concurrently: a hanging node delays each
 * read.
 */
async function giveUpOverdue(context: ServiceTransactionContext): Promise<void> {
  const { sql, chain, chainId } = context;
  const overdue = await overdueServiceTransactions(sql, chainId);
  const senders = [...new Set(overdue.map(({ sender }) => sender))];
  await Promise.all(
    senders.map(async (sender) => {
      const balance = await chain.balance(sender).catch(() => undefined);
      const groups = overdue.filter((group) => group.sender === sender);
      await Promise.all(groups.map((group) => fail(context, group, overdueFailure(group, balance))));
    }),
  );
}

/** Why a group was not signed in time; `balance`, of its sender, is undefined when the node does not answer. */
function overdueFailure({ value }: OverdueGroup, balance: bigint | undefined): Failure {
  if (balance === undefined) return failures.chainNotAnswering;
  return balance <= value ? failures.outOfEther : failures.notSignedInTime;
}
