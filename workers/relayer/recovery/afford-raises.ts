import { type Raise, reserveRaises } from "../../ledger/raises.ts";
import type { Wallet } from "../wallets.ts";
import { chooseRaises } from "./choose-raises.ts";
import type { RecoveryContext } from "./context.ts";

/**
 * Reserves what these transactions cost, in the order of their nonces, as far as the day's gas budget and the wallet's balance
 * reach.
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
  return reserveRaises(sql, wallet.lease, (spending) =>
    chooseRaises(wanted, spending, { balance, gasBudget }),
  );
}
