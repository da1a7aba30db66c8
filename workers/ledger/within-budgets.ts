import type { Sql, TransactionSql } from "postgres";
import type { Address } from "viem";
import { readDaySpending, readSpending, type Spending } from "./gas-spending.ts";
import { type Lease, LeaseLost, leaseHeld } from "./leases.ts";

/** The most that gas may cost in a UTC day, in wei: all of it, and that of one client's wallet. */
export type Budgets = { gasBudget: bigint; gasBudgetPerWallet?: bigint };

/** Another writer has spent from a budget at the same time: nothing was stored, and a second try sees it. */
class BudgetMoved extends Error {
  override message = "other writers keep spending from the day's gas budget";
}

const TRIES = 3;

/**
 * Runs `work` in a transaction of the database that holds the wallet's row and reserves gas, and proves at its end that
 * the day's budgets hold. The rows of the day are then locked by what was reserved: so writers together stay within the
 * budgets, and share a lock only from their last statement to the commit. When another writer was faster, all of it is
 * undone and done again. A client that was over its budget before, because raised fees are not held back by it, does not
 * count: nothing more is reserved for it.
 *
 * @param work gets the spending of the day with that of these clients' wallets; `reserves`: it has reserved gas that must
 * be within the budgets, apart from `exempt`, in wei.
 * @throws LeaseLost
 */
export async function withinBudgets<Result extends { reserves: boolean; exempt?: bigint }>(
  sql: Sql,
  lease: Lease,
  { gasBudget, gasBudgetPerWallet }: Budgets,
  work: (tx: TransactionSql, spending: (clients: readonly Address[]) => Promise<Spending>) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      const done = await sql.begin(async (tx) => {
        const held = await tx`
          select 1 from service.relayer_wallet where ${leaseHeld(tx, lease)} for update`;
        if (held.length === 0) throw new LeaseLost(lease);
        let before: Spending["byWallet"] = new Map();
        let clients: readonly Address[] = [];
        const result = await work(tx, async (wallets) => {
          clients = wallets;
          const spending = await readSpending(tx, lease, wallets);
          before = spending.byWallet;
          return spending;
        });
        if (!result.reserves) return { result };
        const { all, byWallet } = await readDaySpending(tx, lease, clients);
        const risen = [...byWallet].flatMap(([wallet, wei]) =>
          wei > (before.get(wallet) ?? 0n) ? [wei] : [],
        );
        const isOver = risen.some((wei) => wei > (gasBudgetPerWallet ?? wei));
        if (isOver || all - (result.exempt ?? 0n) > gasBudget) throw new BudgetMoved();
        return { result };
      });
      return done.result;
    } catch (error) {
      if (!(error instanceof BudgetMoved) || tries === TRIES) throw error;
    }
  }
}
