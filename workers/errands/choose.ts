import type { WantedGroup } from "../ledger/errands.ts";
import type { Spending } from "../ledger/spending.ts";

/** In wei: the sender's balance, a gas at the most that it may cost now, and what gas may cost in a UTC day in all. */
export type ErrandLimits = { balance: bigint; maxFee: bigint; gasBudget: bigint };

const gasOf = ({ calls }: WantedGroup): bigint => calls.reduce((sum, { call }) => sum + call.gasLimit, 0n);
const givenBy = ({ calls }: WantedGroup): bigint => calls.reduce((sum, { call }) => sum + call.value, 0n);

/** Groups that are signed now, and those of which the day's budget does not let it. */
export type Choice = { sign: WantedGroup[]; overBudget: WantedGroup[] };

/**
 * Chooses what is signed now, oldest first: as much as the balance covers, with what is on its way already, and the budget.
 * Nothing at all when the operator has stopped the wallet.
 */
export function chooseErrands(
  candidates: readonly WantedGroup[],
  { all, reserved, relayerStopped }: Spending,
  { balance, maxFee, gasBudget }: ErrandLimits,
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
