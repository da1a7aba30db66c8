import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { endWhenSilent, HEARTBEAT_MS } from "../../lib/db/silent-server.ts";
import { waitFor } from "../local/wait.ts";

/** Another indexer holds the lock of the schema. */
export class SchemaTakenError extends Error {
  override name = "SchemaTakenError";
}

export type SchemaLock = {
  /** The session that holds the lock. */
  readonly sql: postgres.Sql;
  readonly release: () => Promise<void>;
};

/** A crashed indexer's session ends a moment after its process. */
const takeTimeoutMs = 5_000;
/** In ms. The session's statements are short; one that waits for a row is repeated. */
const statementTimeoutMs = 10_000;

/**
 * Takes the advisory lock of a schema on a separate connection and holds it until the process ends. Ponder's own lock is
 * a row, which survives a crash and is cleared by the shutdown of a second instance; an advisory lock ends with its
 * session. After a lost connection the lock is taken again at once. If another indexer was faster, `onLost` is called, and
 * this process must stop writing.
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
    ...endWhenSilent(statementTimeoutMs),
    max: 1,
    // The lock ends with its session, so an idle or old session must stay open.
    idle_timeout: undefined,
    max_lifetime: null,
    connect_timeout: 3,
    fetch_types: false, // see `connect`
    connection: { application_name: `${schema}_guard` },
    onnotice: () => {},
    onclose: () => {
      if (holder !== undefined) void retake();
    },
  });

  async function take(): Promise<boolean> {
    const [row] = await sql<{ taken: boolean; pid: number }[]>`
      select pg_try_advisory_lock(hashtextextended('ponder:' || ${schema}, 0)) as taken, pg_backend_pid() as pid`;
    if (row?.taken) holder = row.pid;
    return row?.taken ?? false;
  }

  /** Takes the lock again. Ends our own lost session if it still holds the lock because the server has not noticed. */
  async function retake(): Promise<void> {
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
        await sleep(200); // Postgres is unreachable; no other indexer can take the lock either
      }
    }
  }

  // Without answers the session would end: its server would count as gone.
  const heartbeat = setInterval(() => void sql`select`.catch(() => {}), HEARTBEAT_MS).unref();
  const release = () => {
    released = true;
    clearInterval(heartbeat);
    return sql.end();
  };
  try {
    await waitFor({
      what: `the lock of schema ${schema}`,
      probe: async () => ((await take()) ? true : undefined),
      timeoutMs: takeTimeoutMs,
      intervalMs: 250,
    });
  } catch (cause) {
    await release();
    throw new SchemaTakenError(`schema ${schema} is served by another indexer`, { cause });
  }
  return { sql, release };
}

/** Clears Ponder's lock row. The caller holds the advisory lock, so no other indexer runs and the row is stale. */
export async function clearStaleLock(sql: postgres.Sql, schema: string): Promise<void> {
  const [row] = await sql`select to_regclass(${`"${schema}"._ponder_meta`}) as meta`;
  if (!row?.meta) return;
  await sql`update ${sql(schema)}._ponder_meta set value = jsonb_set(value, '{is_locked}', '0')`;
}

/** Between two heartbeats, in ms. After five missed ones readers consider the indexer dead. */
const BEAT_MS = 2000;

/** Updates this indexer's heartbeat until the process ends. A failed update is ignored; the next one replaces it. */
export function startHeartbeat(sql: postgres.Sql, schema: string): void {
  const beat = () =>
    sql`update service.indexer_deployment set heartbeat_at = now() where schema_name = ${schema}`.catch(
      () => {},
    );
  void beat();
  setInterval(beat, BEAT_MS).unref();
}
