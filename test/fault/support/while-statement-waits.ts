import type { Sql, TransactionSql } from "postgres";
import { waitFor } from "../../../scripts/local/wait.ts";
import { mayRest, stayOpen } from "../../support/database.ts";

/**
 * Takes a lock, waits until a statement of the writer blocks on it, runs `act`, and releases the lock. Resolves once the
 * lock is held; `acted` resolves once `act` is done.
 */
export async function whileStatementWaits(
  sql: Sql,
  {
    lock,
    statement,
    act,
  }: { lock: (tx: TransactionSql) => Promise<unknown>; statement: string; act: () => Promise<void> },
): Promise<{ acted: Promise<void> }> {
  let locked: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const acted = sql.begin(async (tx) => {
    await mayRest(tx);
    await lock(tx);
    locked();
    await waitFor({
      what: `the writer to block on "${statement}"`,
      probe: async () => {
        await stayOpen(tx);
        const rows = await sql`
          select 1 from pg_stat_activity
          where datname = current_database() and application_name like 'writer%' and wait_event_type = 'Lock'
            and query like ${`%${statement}%`}`;
        return rows.length > 0 ? true : undefined;
      },
      intervalMs: 50,
    });
    await act();
  });
  await Promise.race([ready, acted]);
  return { acted };
}
