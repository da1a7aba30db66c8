/** How much gas the keeper can pay for. */
import { formatEther, getAddress } from "viem";
import { upkeepGas } from "../../lib/chain/trigger.ts";
import { smaller } from "../common/bigints.ts";
import { costOf } from "../ledger/assign-nonces.ts";
import { readSpending } from "../ledger/gas-spending.ts";
import { initialFees } from "../relayer/fees.ts";
import type { Wallet } from "../relayer/wallets.ts";
import { gasBudgetSpent, gasTooExpensive } from "../service-transactions/failures.ts";
import type { Batch } from "./batches.ts";
import type { KeeperContext } from "./context.ts";
import type { KeeperPurpose } from "./task.ts";

/** What the keeper can spend, in wei: its balance without what its open transactions may cost, and the day's gas budget. */
export type Funds = {
  readonly balance: bigint;
  /** Of the budget, with the most that open transactions may cost. */
  readonly spent: bigint;
  readonly gasBudget: bigint;
  /** What new transactions pay for a unit of gas at most. */
  readonly maxFee: bigint;
};

/** What the keeper can pay for now, or, in words, why it cannot send a trigger. Rejects when node or database are down. */
export async function checkFunds(
  { sql, chain, market, maxCallFee, gasBudget }: KeeperContext,
  { address, lease }: Wallet,
): Promise<{ fault: string } | { fault: undefined; funds: Funds }> {
  const [now, balance, { all: spent, reserved, relayerStopped }] = await Promise.all([
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
  return { fault: undefined, funds: { balance: balance - reserved, spent, gasBudget, maxFee: fees.maxFee } };
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

/** The batches of one purpose that `gas` is enough for, in their order: one that needs too much does not stop those after it. */
export function affordable(batches: readonly Batch[], gas: bigint): Batch[] {
  let left = gas;
  return batches.filter((batch) => {
    if (batch.gas > left) return false;
    left -= batch.gas;
    return true;
  });
}
