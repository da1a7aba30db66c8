/** Puts the keeper's calls into transactions, as far as it can pay for their gas. */
import { type Address, formatEther, getAddress, type Hex } from "viem";
import { UPKEEP_POLICIES, upkeepCalldata, upkeepGas } from "../../lib/chain/trigger.ts";
import { withMargin } from "../../lib/ledger/gas-limits.ts";
import { smaller } from "../common/bigints.ts";
import { costOf } from "../ledger/assign-nonces.ts";
import { codeBudgetOf, readSpending } from "../ledger/gas-spending.ts";
import { initialFees } from "../relayer/fees.ts";
import type { Wallet } from "../relayer/wallets.ts";
import { gasBudgetSpent, gasTooExpensive } from "../service-transactions/failures.ts";
import type { KeeperContext } from "./context.ts";
import type { KeeperPurpose, Task } from "./task.ts";

/** The most gas that a call other than an upkeep may take. */
export const MAX_CALL_GAS = 2_000_000n;

/** The most gas of one policy: a buyer's contract may spend it when it receives its bonds. An upkeep of one leaves it as much. */
export const MAX_SETTLE_GAS = 460_000n;

/** The gas limit of a full upkeep. */
const MAX_UPKEEP_GAS = upkeepGas(UPKEEP_POLICIES);

/**
 * A task whose simulation succeeded; `alone`: its call shares no transaction, because it could use up the others' gas. `runsCodeOf`: the
 * receiver whose code it runs.
 */
export type Ready = {
  readonly task: Task;
  readonly gas: bigint;
  readonly alone: boolean;
  readonly runsCodeOf: Address | null;
};

/** Tasks of one purpose that are done in one transaction, and its call. */
export type Batch = {
  readonly purpose: KeeperPurpose;
  readonly tasks: readonly Task[];
  /** The gas limit: of an upkeep by its policies, of another call by its simulation, until it is estimated again. */
  readonly gas: bigint;
  readonly runsCodeOf: Address | null;
  readonly to: Address;
  readonly data: Hex;
};

/** Whether a task may share an upkeep with others of its product. */
const isShared = ({ task, alone }: Ready): boolean => task.isShared && !alone;

const single = ({ task, gas, runsCodeOf }: Ready): Batch => {
  const { purpose, to, data } = task;
  const limit = purpose === "trigger" ? upkeepGas(1) : withMargin(gas);
  return { purpose, tasks: [task], gas: limit, runsCodeOf, to, data };
};

function upkeepOf(tasks: readonly [Task, ...Task[]]): Batch {
  const [{ purpose, productId, to }] = tasks;
  const policyIds = tasks.map(({ policyId }) => policyId);
  const data = upkeepCalldata(productId ?? "0x", policyIds);
  return { purpose, tasks, gas: upkeepGas(tasks.length), runsCodeOf: null, to, data };
}

/**
 * Groups tasks of one purpose, in their order: an upkeep has ten policies of one product at most, other calls are one by one. Those
 * that could use up gas come last.
 * @param payable the gas that can be paid for: an upkeep that needs more would wait in vain, where a part of it could be done.
 */
export function batchesOf(ready: readonly Ready[], payable: bigint = MAX_UPKEEP_GAS): Batch[] {
  const open = new Map<Hex | null, [Task, ...Task[]]>();
  const groups: [Task, ...Task[]][] = [];
  for (const one of ready) {
    const { task } = one;
    const group = open.get(task.productId);
    if (!isShared(one)) continue;
    if (group && group.length < UPKEEP_POLICIES && upkeepGas(group.length + 1) <= payable) group.push(task);
    else {
      const next: [Task, ...Task[]] = [task];
      open.set(task.productId, next);
      groups.push(next);
    }
  }
  return [...groups.map(upkeepOf), ...ready.filter((one) => !isShared(one)).map(single)];
}

/** What the keeper can spend, in wei: its balance without what its open transactions may cost, and the day's gas budget. */
export type Funds = {
  readonly balance: bigint;
  /** Of the budget, with the most that open transactions may cost. */
  readonly spent: bigint;
  /** Of `spent`: what calls may cost that run receivers' code. */
  readonly spentOnCode: bigint;
  readonly gasBudget: bigint;
  /** What new transactions pay for a unit of gas at most. */
  readonly maxFee: bigint;
};

/** What the keeper can pay for now, or, in words, why it cannot send a trigger. Rejects when node or database are down. */
export async function checkFunds(
  { sql, chain, market, maxCallFee, gasBudget }: KeeperContext,
  { address, lease }: Wallet,
): Promise<{ fault: string } | { fault: undefined; funds: Funds }> {
  const [now, balance, { all: spent, ofCode: spentOnCode, reserved, relayerStopped }] = await Promise.all([
    market.now(),
    chain.balance(address),
    readSpending(sql, lease, []),
  ]);
  if (relayerStopped) return { fault: "The operator has stopped it." };
  const fees = initialFees(now, maxCallFee);
  if (!fees) return { fault: gasTooExpensive };
  const cost = costOf({ gasLimit: upkeepGas(1), l1Fee: 0n }, fees.maxFee);
  if (spent + cost > gasBudget) return { fault: gasBudgetSpent };
  if (balance < cost) {
    return {
      fault: `${getAddress(address)} has ${formatEther(balance)} ETH and needs ${formatEther(cost)} ETH for a trigger at the present price of gas.`,
    };
  }
  const funds = { balance: balance - reserved, spent, spentOnCode, gasBudget, maxFee: fees.maxFee };
  return { fault: undefined, funds };
}

/**
 * The sum of the gas limits that new transactions of a purpose may have. Only triggers use the second half of the day's budget:
 * expired policies and the redemption queue can wait for tomorrow.
 */
export function payableGas({ balance, spent, gasBudget, maxFee }: Funds, purpose: KeeperPurpose): bigint {
  const budget = purpose === "trigger" ? gasBudget : gasBudget / 2n;
  const wei = smaller(balance, budget - spent);
  // A chain without a fee: any gas can be paid.
  return wei <= 0n ? 0n : wei / (maxFee || 1n);
}

/** The same for payouts that run their receivers' code: as far as their share of the budget goes. */
export function payableCodeGas(funds: Funds): bigint {
  const left = codeBudgetOf(funds.gasBudget) - funds.spentOnCode;
  return left <= 0n ? 0n : smaller(payableGas(funds, "trigger"), left / (funds.maxFee || 1n));
}

/** The batches of one purpose that `gas` is enough for, in their order: one that needs too much does not stop those after it. */
export function affordable(batches: readonly Batch[], gas: bigint): Batch[] {
  let left = gas;
  return batches.filter((batch) => {
    if (batch.gas > left) return false;
    left -= batch.gas;
    return true;
  });
}
