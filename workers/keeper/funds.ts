/** How much gas the keeper can pay for. Pure. */

import type { KeeperPurpose } from "../../lib/ledger/kinds.ts";
import { smaller } from "../common/bigints.ts";
import type { Batch } from "./batches.ts";

/** What the keeper can spend, in wei: its balance without what its open transactions may cost, and the day's gas budget. */
export type Funds = {
  readonly balance: bigint;
  /** Of the budget, with the most that open transactions may cost. */
  readonly spent: bigint;
  readonly gasBudget: bigint;
  /** What new transactions pay for a unit of gas at most. */
  readonly maxFee: bigint;
};

/**
 * The gas, by simulation, that new transactions of a purpose may take: a signed call has a quarter more. Only triggers use the
 * second half of the day's budget: expired policies and the redemption queue can wait for tomorrow.
 */
export function payableGas({ balance, spent, gasBudget, maxFee }: Funds, purpose: KeeperPurpose): bigint {
  const budget = purpose === "trigger" ? gasBudget : gasBudget / 2n;
  const wei = smaller(balance, budget - spent);
  // A chain without a fee: any gas can be paid.
  return wei <= 0n ? 0n : (wei * 4n) / (5n * (maxFee || 1n));
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
