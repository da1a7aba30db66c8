import type { WantedGroup } from "../ledger/errands.ts";
import type { Spending } from "../ledger/spending.ts";

/** In wei: the sender's balance, a gas at the most that it may cost now, and what gas may cost in a UTC day in all. */
export type ErrandLimits = { balance: bigint; maxFee: bigint; gasBudget: bigint };

const gasOf = ({ calls }: WantedGroup): bigint => calls.reduce((sum, { call }) => sum + call.gasLimit, 0n);
const givenBy = ({ calls }: WantedGroup): bigint => calls.reduce((sum, { call }) => sum + call.value, 0n);

/**
 * The groups that are signed now, oldest first: as many as the balance covers, with what is on its way already, and the
 * budget. None at all when the operator has stopped the wallet.
 */
export function chooseErrands(
  candidates: readonly WantedGroup[],
  { all, reserved, relayerStopped }: Spending,
  { balance, maxFee, gasBudget }: ErrandLimits,
): WantedGroup[] {
  if (relayerStopped) return [];
  const chosen: WantedGroup[] = [];
  let gas = all;
  let spent = reserved;
  for (const group of candidates) {
    const cost = gasOf(group) * maxFee;
    if (gas + cost > gasBudget || spent + cost + givenBy(group) > balance) continue;
    gas += cost;
    spent += cost + givenBy(group);
    chosen.push(group);
  }
  return chosen;
}
