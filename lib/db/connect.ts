import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";

/** Far above any pause between two statements of a transaction, and below the lease on a wallet, in ms. */
const IDLE_IN_TRANSACTION_MS = 5000;

/**
 * A pool of connections to Postgres with drizzle on top. `name` shows in `pg_stat_activity`; `max` is the pool's size.
 * Connections are made when first used, so a process starts, and comes back by itself, while the database is away; a
 * statement that runs longer than `statementTimeout` ms (default 10 s), or waits longer than `lockTimeout` ms for a lock
 * (default: no bound of its own), is ended by the server. With `snapshots`, nothing can be written, and what one
 * transaction reads is of one moment. Without `durable`, a commit does not wait for the disk: a crash of the server forgets
 * the last half second of it, so it is for what is made up for or is worth no more. With `freshPlans` each statement is
 * planned anew, for tables that may grow a thousandfold in a minute: a plan that was made while they were small, and kept,
 * would read them from end to end.
 */
export function connect(
  url: string,
  {
    name,
    max = 10,
    statementTimeout = 10_000,
    lockTimeout = 0,
    freshPlans = false,
    snapshots = false,
    durable = true,
  }: ConnectOptions,
) {
  const sql = postgres(url, {
    max,
    connect_timeout: 3,
    // postgres.js doubles its pause between attempts without a bound; a database that is back should be found soon.
    backoff: (retries) => Math.min(0.1 * 2 ** retries, 2),
    onnotice: () => {},
    // It asks for the array types on each first connection, and nobody hears when that fails: the process would end.
    fetch_types: false,
    types: { textArray: listOf(TEXT_ARRAY), uuidArray: listOf(UUID_ARRAY) },
    connection: {
      application_name: name,
      statement_timeout: statementTimeout,
      lock_timeout: lockTimeout,
      ...(freshPlans ? { plan_cache_mode: "force_custom_plan" } : {}),
      // A process that is frozen in the middle of a transaction keeps its locks from everybody else no longer than this.
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      ...(snapshots
        ? { default_transaction_isolation: "repeatable read", default_transaction_read_only: true }
        : {}),
      ...(durable ? {} : { synchronous_commit: "off" }),
    },
  });
  prepareAll(sql);
  keepLostTransactions(sql);
  return { sql, db: drizzle(sql), close: () => sql.end({ timeout: 5 }) };
}

/** The types of the lists that statements take as parameters (`any(… ::text[])`), by their numbers in Postgres. */
const TEXT_ARRAY = 1009;
const UUID_ARRAY = 2951;

const listOf = (type: number) => ({
  to: type,
  from: [type],
  // drizzle has made a text of a column's list by itself.
  serialize: (items: readonly string[] | string) =>
    typeof items === "string"
      ? items
      : `{${items.map((item) => `"${item.replace(/[\\"]/g, "\\$&")}"`).join(",")}}`,
  // No statement reads a list.
  parse: (text: string) => text,
});

/**
 * drizzle sends what it builds through `unsafe`, which asks the server for the types of each statement's parameters anew:
 * a prepared one needs one round trip instead of two, and several can be sent without waiting for the first.
 */
function prepareAll(client: postgres.ISql): void {
  const { unsafe } = client;
  Object.assign(client, {
    unsafe: (...[query, parameters, options]: Parameters<typeof unsafe>) =>
      unsafe(query, parameters, { prepare: true, ...options }),
  });
}

/**
 * postgres.js answers a transaction that fails with a rollback, on the lost connection too, where that throws past every
 * handler and ends the process. `begin` rejects by itself once its connection is gone, so a body that failed for that
 * reason is not heard any more.
 */
function keepLostTransactions(sql: postgres.Sql): void {
  type Body = (tx: postgres.TransactionSql) => unknown;
  const { begin } = sql;
  const guarded = (body: Body) => async (tx: postgres.TransactionSql) => {
    prepareAll(tx);
    try {
      return await body(tx);
    } catch (error) {
      if (isConnectionLost(error)) return new Promise<never>(() => {});
      throw error;
    }
  };
  Object.assign(sql, {
    begin: (...args: [body: Body] | [options: string, body: Body]) =>
      args.length === 1 ? begin(guarded(args[0])) : begin(args[0], guarded(args[1])),
  });
}

/**
 * True when the very connection is gone; an ended statement or a refused new connection leaves the one at hand alive.
 * 25P03 and 25P04: the server has ended the session of a transaction that idled, or took, too long.
 */
function isConnectionLost(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^(CONNECTION_|ECONN|EPIPE|ETIMEDOUT|57P0[1-5]|25P0[34]|08006$)/.test(code);
}

export type ConnectOptions = {
  name: string;
  max?: number;
  statementTimeout?: number;
  lockTimeout?: number;
  freshPlans?: boolean;
  snapshots?: boolean;
  durable?: boolean;
};
export type Connection = ReturnType<typeof connect>;
export type Database = Connection["db"];

/** True for an error that says the database could not be reached or is going away, as opposed to a faulty query. */
export function isConnectionError(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = "code" in cause ? String(cause.code) : "";
    // 08: connection exception; 57P01-57P03: shutting down or starting; 53300: too many connections; 57014: time-out of a
    // statement; 25P03, 25P04: of a transaction; 55P03: of a wait for a lock.
    if (/^(08...|57P0[123]|53300|57014|25P0[34]|55P03)$/.test(code)) return true;
    if (/^(CONNECT_TIMEOUT|CONNECTION_|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH)/.test(code))
      return true;
    if (cause instanceof AggregateError && cause.errors.some(isConnectionError)) return true;
  }
  return false;
}
