import { randomBytes } from "node:crypto";
import type { ISql } from "postgres";
import { inject } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "./cleanup.ts";
import { createDatabase, dropDatabase } from "./postgres-databases.ts";

/**
 * Creates a database with the migrated schemas of service and queue, or an empty one. It is dropped when the test file ends.
 * @returns its URL.
 */
export async function freshDatabase({ empty = false } = {}): Promise<string> {
  const server = inject("postgresUrl");
  const name = `test_${randomBytes(6).toString("hex")}`;
  const url = await createDatabase(server, name, empty ? undefined : inject("migratedTemplate"));
  atEnd(() => dropDatabase(server, name));
  return url;
}

/** Lets a transaction hold its locks without a limit; Postgres ends the service's own after five idle seconds. */
export const mayRest = (tx: ISql) => tx`set local idle_in_transaction_session_timeout = 0`;
/** To be asked again and again by a transaction that rests: a connection on which nothing comes for 13 seconds is closed. */
export const stayOpen = (tx: ISql) => tx`select`;

/** Waits until a session of this database is blocked on a lock of this type. */
export const waitForLockWaiter = (sql: ISql, type: "advisory" | "relation" | "transactionid" = "advisory") =>
  waitFor({
    what: "a session to wait for the lock",
    probe: async () => {
      const waiting = await sql`
        select 1 from pg_locks l join pg_stat_activity a using (pid)
        where l.locktype = ${type} and not l.granted and a.datname = current_database()`;
      return waiting.length > 0 || undefined;
    },
    intervalMs: 20,
  });
