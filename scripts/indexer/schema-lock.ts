import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { waitFor } from "../local/wait.ts";

/** A schema whose lock another indexer holds. */
export class SchemaTakenError extends Error {
  override name = "SchemaTakenError";
}

export type SchemaLock = {
  /** The session that holds the lock. */
  readonly sql: postgres.Sql;
  readonly release: () => Promise<void>;
};

/** A crashed indexer's session ends a moment after its process. */
const patienceMs = 5_000;

/**
 * Takes the advisory lock of a schema and keeps it for the life of the process, on a connection of its own. Ponder's
 * own lock is a row that a crash leaves behind and that a second instance's shutdown clears; this one ends with the
 * session. When the connection is lost the lock is taken anew at once; `onLost` is called when another indexer was
 * faster, and then this process must write no more.
 * @throws {SchemaTakenError} when another indexer serves the schema.
 */
export async function lockSchema(
  databaseUrl: string,
  schema: string,
  onLost: () => void,
): Promise<SchemaLock> {
  let holder: number | undefined;
  let released = false;
  const sql = postgres(databaseUrl, {
    max: 1,
    // The lock lives as long as its session: neither a quiet nor an old one may be closed.
    idle_timeout: undefined,
    max_lifetime: null,
    connect_timeout: 3,
    connection: { application_name: `${schema}_guard` },
    onnotice: () => {},
    onclose: () => {
      if (holder !== undefined) void keep();
    },
  });

  async function take(): Promise<boolean> {
    const [row] = await sql<{ taken: boolean; pid: number }[]>`
      select pg_try_advisory_lock(hashtextextended('ponder:' || ${schema}, 0)) as taken, pg_backend_pid() as pid`;
    if (row?.taken) holder = row.pid;
    return row?.taken ?? false;
  }

  /** The lock's holder may be our own lost session, which the server has not noticed yet: it is ended. */
  async function keep(): Promise<void> {
    const lost = holder;
    holder = undefined;
    while (!released) {
      try {
        if (await take()) return;
        const [other] = await sql<{ pid: number }[]>`
          select pid from pg_locks
          where locktype = 'advisory' and granted and objsubid = 1
            and database = (select oid from pg_database where datname = current_database())
            and (classid::bigint << 32 | objid::bigint) = hashtextextended('ponder:' || ${schema}, 0)`;
        if (other && other.pid !== lost) return onLost();
        if (other) await sql`select pg_terminate_backend(${other.pid})`;
      } catch {
        await sleep(200); // Postgres is away; nobody else gets the lock there either
      }
    }
  }

  const release = () => {
    released = true;
    return sql.end();
  };
  try {
    await waitFor({
      what: `the lock of schema ${schema}`,
      probe: async () => ((await take()) ? true : undefined),
      timeoutMs: patienceMs,
      intervalMs: 250,
    });
  } catch (cause) {
    await release();
    throw new SchemaTakenError(`schema ${schema} is served by another indexer`, { cause });
  }
  return { sql, release };
}

/** Clears Ponder's lock row. Whoever holds the advisory lock knows that no other indexer lives: the row is stale. */
export async function clearStaleLock(sql: postgres.Sql, schema: string): Promise<void> {
  const [row] = await sql`select to_regclass(${`"${schema}"._ponder_meta`}) as meta`;
  if (!row?.meta) return;
  await sql`update ${sql(schema)}._ponder_meta set value = jsonb_set(value, '{is_locked}', '0')`;
}
