import { setTimeout as sleep } from "node:timers/promises";
import type { Sql, TransactionSql } from "postgres";
import type { Address } from "viem";
import { readDay, readSpending, type Spending } from "./gas-spending.ts";
import { type Lease, LeaseLost, leaseHeld } from "./leases.ts";
import { endPlan, type PlannedCost, planRound, RoundsCompete } from "./round-plans.ts";

/** The most that gas may cost in a UTC day, in wei: all of it, and that of one client's wallet. */
export type Budgets = { gasBudget: bigint; gasBudgetPerWallet?: bigint };

const TRIES = 5;
/** The longest pause before the second try, in ms; each further one is longer. A round takes a few ms. */
const PAUSE_MS = 30;

/**
 * Runs `work` in a transaction of the database that holds the wallet's row and reserves gas, and proves at its end that
 * the day's budgets hold, also if all that other wallets' rounds plan is reserved. No lock is shared with other wallets: each
 * round has committed its plan before it begins. Rounds that compete for the rest of a budget are undone, and tried again after
 * pauses of random length.
 *
 * A client that was over its budget before, because raised fees are not held back by it, does not count: nothing more is
 * reserved for it.
 *
 * @param plan the most that `work` reserves.
 * @param work gets the spending of the day with that of these clients' wallets; `reserves`: it has reserved gas that must
 * be within the budgets, apart from `exempt`, in wei.
 * @throws LeaseLost
 * @throws RoundsCompete
 */
export async function withinBudgets<Result extends { reserves: boolean; exempt?: bigint }>(
  sql: Sql,
  lease: Lease,
  { gasBudget, gasBudgetPerWallet, plan }: Budgets & { plan: readonly PlannedCost[] },
  work: (tx: TransactionSql, spending: (clients: readonly Address[]) => Promise<Spending>) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    const round = await planRound(sql, lease, plan);
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
        const [{ all, byClient }, isPlanned] = await Promise.all([
          readDay(tx, lease, clients),
          endPlan(tx, round),
        ]);
        if (!result.reserves) return { result };
        if (!isPlanned) throw new Error("the round took too long");
        const isOver = [...byClient].some(
          ([wallet, { spent, planned }]) =>
            spent > (before.get(wallet) ?? 0n) &&
            gasBudgetPerWallet !== undefined &&
            spent + planned > gasBudgetPerWallet,
        );
        if (isOver || all.spent + all.planned - (result.exempt ?? 0n) > gasBudget) throw new RoundsCompete();
        return { result };
      });
      return done.result;
    } catch (error) {
      // A plan that stays is deleted with a later renewal of the lease.
      await endPlan(sql, round).catch(() => {});
      if (!(error instanceof RoundsCompete) || tries === TRIES) throw error;
      await sleep(Math.random() * PAUSE_MS * tries);
    }
  }
}
