/** Something that happens while a statement of the writer is at work. */
import type { Sql, TransactionSql } from "postgres";
import { waitFor } from "../../../scripts/local/wait.ts";
import { mayRest } from "../../support/database.ts";

const REACH_MS = 60_000;

/**
 * Strikes while a statement of the writer waits for a lock that is held here. Resolves once the lock is held; `struck`
 * once the step was reached and `strike` is done.
 */
export async function atStatement(
  sql: Sql,
  {
    lock,
    statement,
    strike,
  }: { lock: (tx: TransactionSql) => Promise<unknown>; statement: string; strike: () => Promise<void> },
): Promise<{ struck: Promise<void> }> {
  let locked: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    locked = resolve;
  });
  const struck = sql.begin(async (tx) => {
    await mayRest(tx);
    await lock(tx);
    locked();
    await waitFor({
      what: `the writer to reach "${statement}"`,
      probe: async () => {
        const rows = await sql`
          select 1 from pg_stat_activity
          where datname = current_database() and application_name like 'writer%' and wait_event_type = 'Lock'
            and query like ${`%${statement}%`}`;
        return rows.length > 0 ? true : undefined;
      },
      timeoutMs: REACH_MS,
      intervalMs: 10,
    });
    await strike();
  });
  await Promise.race([ready, struck]);
  return { struck };
}
