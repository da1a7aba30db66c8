import { randomBytes } from "node:crypto";
import type { ISql } from "postgres";
import { inject } from "vitest";
import { createDatabase, dropDatabase } from "../../scripts/local/postgres.ts";
import { atEnd } from "./cleanup.ts";

/**
 * A database that nobody else uses, with the migrated `service` schema unless it is to be `empty`; it is dropped when
 * the test file ends. @returns its URL.
 */
export async function freshDatabase({ empty = false } = {}): Promise<string> {
  const server = inject("postgresUrl");
  const name = `test_${randomBytes(6).toString("hex")}`;
  const url = await createDatabase(server, name, empty ? undefined : inject("migratedTemplate"));
  atEnd(() => dropDatabase(server, name));
  return url;
}

/** Lets a transaction hold its locks for as long as the test wants; Postgres ends the service's own after five idle seconds. */
export const mayRest = (tx: ISql) => tx`set local idle_in_transaction_session_timeout = 0`;
