import type { Sql } from "postgres";
import { pausedClients, walletLoads } from "../../lib/ledger/in-flight.ts";
import { failedTasks, hasKeeper, keeperAbsences } from "../../lib/ledger/keeper-tasks.ts";
import {
  countWaiting,
  type FlightPosition,
  reportFailedServiceTransactions,
  reportFlights,
  reportGaps,
  reportWaiting,
} from "../../lib/ledger/report.ts";
import { gasBudgets, spendingByKey, spendingByWallet } from "../../lib/ledger/spending.ts";

export type LedgerPage = {
  /** Seconds: transactions in flight, and those that wait, are left out while they are younger. */
  readonly minAge: number;
  /** The most rows of each list. */
  readonly limit: number;
  /** The last transaction in flight of the previous page. */
  readonly cursor?: FlightPosition | undefined;
};

/**
 * What `npm run ledger` prints, but for the stops, in one snapshot and over one connection: the operator's look takes none from
 * purchases. There is one transaction in flight more than the limit, unless the list ends there.
 */
export async function readLedger(sql: Sql, { minAge, limit, cursor }: LedgerPage) {
  return sql.begin("isolation level repeatable read read only", async (tx) => {
    const [wallets, flights, waitingTotal, waiting, failed, gaps] = await Promise.all([
      walletLoads(tx),
      reportFlights(tx, { minAge, limit: limit + 1, after: cursor }),
      countWaiting(tx),
      reportWaiting(tx, { minAge, limit }),
      reportFailedServiceTransactions(tx, limit),
      reportGaps(tx, limit),
    ]);
    const [paused, gas, byWallet, byKey, isKept, tasks, absences] = await Promise.all([
      pausedClients(tx, limit),
      gasBudgets(tx),
      spendingByWallet(tx),
      spendingByKey(tx, limit),
      hasKeeper(tx),
      failedTasks(tx, limit),
      keeperAbsences(tx, limit),
    ]);
    const keeper = isKept ? { tasks, absences } : null;
    return { wallets, flights, waitingTotal, waiting, failed, gaps, paused, gas, byWallet, byKey, keeper };
  });
}

export type LedgerFacts = Awaited<ReturnType<typeof readLedger>>;
