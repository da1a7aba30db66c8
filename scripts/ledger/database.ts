/** The database that the operator's commands use: that of `DATABASE_URL`, or else that of `npm run dev`. */
import type { ledgerConfig } from "../../lib/config.ts";

export const ledgerDatabase = ({ DATABASE_URL, POSTGRES_PORT }: ReturnType<typeof ledgerConfig>): string =>
  DATABASE_URL ?? `postgres://postgres@127.0.0.1:${POSTGRES_PORT}/postgres`;

/** The server and the database of a URL, without the password. */
export function databaseName(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}
