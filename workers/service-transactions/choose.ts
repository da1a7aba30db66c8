import { codeCostOfGroup, costOfGroup, type WantedCall, type WantedGroup } from "../ledger/assign-nonces.ts";
import { codeBudgetOf, type Spending } from "../ledger/gas-spending.ts";

/** In wei: the sender's balance, and the gas budget of a UTC day. */
export type ServiceTransactionLimits = { balance: bigint; gasBudget: bigint };

const givenBy = ({ calls }: WantedGroup): bigint => calls.reduce((sum, { call }) => sum + call.value, 0n);

/** The calls that are sent now, and the ids of the groups that exceed the day's gas budget. */
export type Choice = { send: WantedCall[]; overBudget: ReadonlySet<string> };

/**
 * Chooses the groups that are sent now, oldest first: as many as the balance covers, beside the wallet's pending
 * transactions, and as the budget allows. None when the operator has stopped the wallet.
 */
export function chooseServiceTransactions(
  candidates: readonly WantedGroup[],
  { all, ofCode: ofCodeBefore, reserved, relayerStopped }: Spending,
  { balance, gasBudget }: ServiceTransactionLimits,
): Choice {
  const overBudget = new Set<string>();
  const send: WantedCall[] = [];
  if (relayerStopped) return { send, overBudget };
  let gas = all;
  let ofCode = ofCodeBefore;
  let spent = reserved;
  for (const group of candidates) {
    const cost = costOfGroup(group);
    const codeCost = codeCostOfGroup(group);
    const isOverShare = codeCost > 0n && ofCode + codeCost > codeBudgetOf(gasBudget);
    if (gas + cost > gasBudget || isOverShare) {
      overBudget.add(group.id);
    } else if (spent + cost + givenBy(group) <= balance) {
      gas += cost;
      ofCode += codeCost;
      spent += cost + givenBy(group);
      send.push(...group.calls);
    }
  }
  return { send, overBudget };
}
