/** What the sessions of a database wait for while they run statements, from samples of `pg_stat_activity` and `pg_locks`. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";

/** Between two samples, in ms. */
const INTERVAL_MS = 20;

export type Wait = {
  /** The event of Postgres, such as `WALWrite`; for a lock its kind, and the table where it is one of a row. */
  readonly event: string;
  /** Whose statement waits, and its beginning. */
  readonly waiter: string;
  readonly statement: string;
  /** Who holds the lock; null for other events. */
  readonly holder: string | null;
};

/** Names are those of the connections. A session that waits for a row has the lock on its tuple, or waits for that first. */
const readWaits = (sql: Sql) => sql<Wait[]>`
  with waiting as (
    select pid, application_name as waiter, wait_event as event, wait_event_type = 'Lock' as locks,
      left(regexp_replace(trim(query, E' \n'), '\\s+', ' ', 'g'), 60) as statement
    from pg_stat_activity
    where datname = current_database() and state = 'active' and wait_event_type in ('Lock', 'LWLock', 'IO', 'IPC')
  )
  select w.waiter, w.statement, h.application_name as holder, concat_ws(' of ', w.event, (
    select min(l.relation::regclass::text) from pg_locks l where w.locks and l.pid = w.pid and l.locktype = 'tuple')) as event
  from waiting w left join pg_stat_activity h on w.locks and h.pid = (pg_blocking_pids(w.pid))[1]`;

/** Samples until `stop`, which returns the seconds that all sessions together spent in each wait, the longest first. */
export function sampleWaits(sql: Sql): { stop: () => Promise<{ wait: Wait; seconds: number }[]> } {
  const sums = new Map<string, { wait: Wait; seconds: number }>();
  let stopped = false;
  const sampling = (async () => {
    let last = performance.now();
    while (!stopped) {
      await sleep(INTERVAL_MS);
      const waits = await readWaits(sql);
      const now = performance.now();
      for (const wait of waits) {
        const key = JSON.stringify(wait);
        const seconds = (sums.get(key)?.seconds ?? 0) + (now - last) / 1000;
        sums.set(key, { wait, seconds });
      }
      last = now;
    }
  })();
  return {
    async stop() {
      stopped = true;
      await sampling;
      return [...sums.values()].sort((a, b) => b.seconds - a.seconds);
    },
  };
}
