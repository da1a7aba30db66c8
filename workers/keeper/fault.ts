import { formatEther, getAddress } from "viem";
import { costOf } from "../ledger/call-cost.ts";
import { readSpending } from "../ledger/gas-spending.ts";
import { initialFees } from "../relayer/fees.ts";
import type { Wallet } from "../relayer/wallets.ts";
import { gasBudgetSpent, gasTooExpensive } from "../service-transactions/failures.ts";
import type { KeeperContext } from "./context.ts";
import type { Funds } from "./funds.ts";

/** The gas of one trigger, rounded up, with the margin of a signed call. */
const TYPICAL_GAS = 600_000n;

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
  const cost = costOf({ gasLimit: TYPICAL_GAS, l1Fee: 0n }, fees.maxFee);
  if (spent + cost > gasBudget) return { fault: gasBudgetSpent };
  if (balance < cost) {
    return {
      fault: `${getAddress(address)} has ${formatEther(balance)} ETH and needs ${formatEther(cost)} ETH for a trigger at the present price of gas.`,
    };
  }
  return { fault: undefined, funds: { balance: balance - reserved, spent, gasBudget, maxFee: fees.maxFee } };
}
