import { type Raise, reserveRaises } from "../../ledger/raises.ts";
import { RoundsCompete } from "../../ledger/round-plans.ts";
import type { Wallet } from "../wallets.ts";
import { chooseRaises } from "./choose-raises.ts";
import type { RecoveryContext } from "./context.ts";

/**
 * Reserves what these transactions cost, in the order of their nonces, as far as the day's gas budget and the wallet's balance
 * reach. While other wallets' rounds take the rest of the budget it is none of them: cancelling and what else the recovery does
 * must not wait for other wallets.
 *
 * @returns those that may be signed.
 * @throws LeaseLost
 */
export async function affordRaises<Wanted extends Raise>(
  { sql, chain, gasBudgetOf }: Pick<RecoveryContext, "sql" | "chain" | "gasBudgetOf">,
  wallet: Wallet,
  wanted: readonly Wanted[],
): Promise<Wanted[]> {
  const gasBudget = gasBudgetOf(wallet.role);
  const balance = await chain.balance(wallet.address);
  return reserveRaises(sql, wallet.lease, gasBudget, wanted, (spending) =>
    chooseRaises(wanted, spending, { balance, gasBudget }),
  ).catch((error: unknown) => {
    if (error instanceof RoundsCompete) return [];
    throw error;
  });
}
