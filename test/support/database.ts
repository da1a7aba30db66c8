import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { createDatabase, dropDatabase } from "../../lib/local/postgres.ts";
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
