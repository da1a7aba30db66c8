import { sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";

type Transaction = Parameters<Parameters<PostgresJsDatabase["transaction"]>[0]>[0];

/** Begins a transaction's snapshot. */
export const ONE_SNAPSHOT = "set transaction isolation level repeatable read, read only";

/** Runs reads in a transaction that sees one snapshot. `more`: statements that begin it too. */
export const inSnapshot = <T>(
  db: PostgresJsDatabase,
  read: (tx: Transaction) => Promise<T>,
  more = "",
): Promise<T> =>
  db.transaction(async (tx) => {
    // Sent together, they take one round trip.
    const begun = tx.execute(sql.raw(`${ONE_SNAPSHOT}; ${more}`)).then(() => {});
    const [value] = await Promise.all([read(tx), begun]);
    return value;
  });
