import type { Spending } from "../ledger/gas-spending.ts";
import type { WantedGroup } from "../ledger/service-transactions.ts";

/** In wei: the sender's balance, the most that a gas may cost now, and the gas budget of a UTC day. */
export type ServiceTransactionLimits = { balance: bigint; maxFee: bigint; gasBudget: bigint };

const gasOf = ({ calls }: WantedGroup): bigint => calls.reduce((sum, { call }) => sum + call.gasLimit, 0n);
const givenBy = ({ calls }: WantedGroup): bigint => calls.reduce((sum, { call }) => sum + call.value, 0n);

/** The groups that are signed now, and those that exceed the day's gas budget. */
export type Choice = { sign: WantedGroup[]; overBudget: WantedGroup[] };

/**
 * Chooses the groups that are signed now, oldest first: as many as the balance covers, beside the wallet's pending
 * transactions, and as the budget allows. None when the operator has stopped the wallet.
 */
export function chooseServiceTransactions(
  candidates: readonly WantedGroup[],
  { all, reserved, relayerStopped }: Spending,
  { balance, maxFee, gasBudget }: ServiceTransactionLimits,
): Choice {
  const choice: Choice = { sign: [], overBudget: [] };
  if (relayerStopped) return choice;
  let gas = all;
  let spent = reserved;
  for (const group of candidates) {
    const cost = gasOf(group) * maxFee;
    if (gas + cost > gasBudget) {
      choice.overBudget.push(group);
    } else if (spent + cost + givenBy(group) <= balance) {
      gas += cost;
      spent += cost + givenBy(group);
      choice.sign.push(group);
    }
  }
  return choice;
}
