import { formatEther, getAddress } from "viem";
import { costOf } from "../ledger/call-cost.ts";
import { gasSpentToday } from "../ledger/gas-spending.ts";
import { initialFees } from "../relayer/fees.ts";
import type { Wallet } from "../relayer/wallets.ts";
import { gasBudgetSpent, gasTooExpensive } from "../service-transactions/failures.ts";
import type { KeeperContext } from "./context.ts";

/** The gas of one trigger, rounded up, with the margin of a signed call. */
const TYPICAL_GAS = 600_000n;

/** Why the keeper cannot send a trigger now, in words; undefined when it can. Rejects when node or database are down. */
export async function keeperFault(
  { sql, chain, chainId, market, maxCallFee, gasBudget }: KeeperContext,
  { address }: Wallet,
): Promise<string | undefined> {
  const [now, balance, spent, [stop]] = await Promise.all([
    market.now(),
    chain.balance(address),
    gasSpentToday(sql, chainId, "keeper"),
    sql<{ scope: string | null }[]>`select service.stopped_by(${address}, null) as scope`,
  ]);
  if (stop?.scope) return "The operator has stopped it.";
  const fees = initialFees(now, maxCallFee);
  if (!fees) return gasTooExpensive;
  const cost = costOf({ gasLimit: TYPICAL_GAS, l1Fee: 0n }, fees.maxFee);
  if (spent + cost > gasBudget) return gasBudgetSpent;
  if (balance >= cost) return undefined;
  return `${getAddress(address)} has ${formatEther(balance)} ETH and needs ${formatEther(cost)} ETH for a trigger at the present price of gas.`;
}
