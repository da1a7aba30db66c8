import postgres from "postgres";
import { countSessions } from "./sessions.ts";
import { endWhenSilent } from "./silent-server.ts";

/**
 * A pool of connections to Postgres. Connections open on first use, and again after a failure, so a process starts while the
 * database is down. Their settings are those of the login (`login-settings.ts`). Do not wrap the pool in drizzle where rows have
 * timestamps: drizzle turns them into text.
 *
 * - `name` shows in `pg_stat_activity`; `max` is the pool's size.
 * - `statementTimeout`, in ms, 10 s as the login's: if the server is silent for longer, the connection ends, and its statements
 *   fail: they may have run all the same. A longer one must be set on the server too.
 * - `freshPlans`: each statement is planned anew, for tables that may grow a thousandfold within a minute: a plan made for a
 *   small table would scan it.
 * - `otherServer`: not that of `DATABASE_URL`, so its sessions are not counted with those.
 */
export function connect(
  url: string,
  { name, max = 10, statementTimeout = 10_000, freshPlans = false, otherServer = false }: ConnectOptions,
) {
  const sql = postgres(url, {
    ...endWhenSilent(statementTimeout),
    max,
    connect_timeout: 3,
    // postgres.js doubles its pause between attempts without a limit; a recovered database should be found within 2 s.
    backoff: (retries) => Math.min(0.1 * 2 ** retries, 2),
    onnotice: () => {},
    // It reads the array types on each first connection, and an error of that read has no handler: it ends the process.
    fetch_types: false,
    prepare: !freshPlans,
    types: { textArray: listOf(TEXT_ARRAY), uuidArray: listOf(UUID_ARRAY) },
    // Poolers refuse other parameters.
    connection: { application_name: name },
  });
  const { unsafe } = sql;
  Object.assign(sql, {
    // drizzle's statements come here. A prepared one takes one round trip instead of two, and half of Postgres' CPU for a page.
    unsafe: (...[query, parameters, options]: Parameters<typeof unsafe>) =>
      unsafe(query, parameters, { prepare: true, ...options }),
  });
  const uncount = countSessions(otherServer ? 0 : max);
  const close = () => {
    uncount();
    return sql.end({ timeout: 5 });
  };
  return { sql, close };
}

/** Runs a transaction with settings of its own. They are sent with its first statement. */
export async function beginWith<T>(
  sql: postgres.Sql,
  settings: Readonly<Record<string, string>>,
  body: (tx: postgres.TransactionSql) => Promise<T>,
): Promise<T> {
  const statements = Object.entries(settings).map(([name, value]) => `set local ${name} = '${value}'`);
  const { result } = await sql.begin(async (tx) => {
    const set = tx.unsafe(statements.join("; ")).execute();
    const [result] = await Promise.all([body(tx), set]);
    return { result };
  });
  return result;
}

/** Postgres' type ids of the array parameters in statements (`any(… ::text[])`). */
const TEXT_ARRAY = 1009;
const UUID_ARRAY = 2951;

const listOf = (type: number) => ({
  to: type,
  from: [type],
  // postgres.js serializes in place, and repeats a statement with the result when the server has lost its plan.
  serialize: (items: readonly string[] | string) =>
    typeof items === "string"
      ? items
      : `{${items.map((item) => `"${item.replace(/[\\"]/g, "\\$&")}"`).join(",")}}`,
  // No statement reads a list.
  parse: (text: string) => text,
});

export type ConnectOptions = {
  name: string;
  max?: number;
  statementTimeout?: number;
  freshPlans?: boolean;
  otherServer?: boolean;
};
export type Connection = ReturnType<typeof connect>;

/** True when the database could not be reached, refuses the session or is shutting down, as opposed to a faulty query. */
export function isConnectionError(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // The server has refused or ended the session: the login, the database or the role does not exist (yet), for example.
    if ("severity" in cause && cause.severity === "FATAL") return true;
    const code = "code" in cause ? String(cause.code) : "";
    // 08: connection exception; 57P01-57P03: shutting down or starting; 53300: too many connections; 57014: timeout of
    // a statement; 25P03, 25P04: of a transaction; 55P03: of a wait for a lock.
    if (/^(08...|57P0[123]|53300|57014|25P0[34]|55P03)$/.test(code)) return true;
    if (/^(CONNECT_TIMEOUT|CONNECTION_|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH)/.test(code))
      return true;
    if (cause instanceof AggregateError && cause.errors.some(isConnectionError)) return true;
  }
  return false;
}
