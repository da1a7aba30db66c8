/**
 * The rows of the last block before a start. Ponder begins by taking its rows back to the last final block, and its head stays
 * behind the rows until the first live block: meanwhile the api reads in a snapshot that this process holds.
 */
import postgres, { type ReservedSql, type Sql } from "postgres";
import { endWhenSilent } from "../../lib/db/silent-server.ts";
import { type Build, indexedBlock, servedSchema } from "./views.ts";

/** The snapshot that the api may read; there may be none. */
export type LastBlock = { readonly release: () => Promise<void> };

/**
 * Begins a transaction and returns its snapshot's name. It reads nothing itself: a lock on a table would keep Ponder from
 * changing its triggers. Vacuum is held back for `maxAge` seconds at most, even if this process is suspended.
 */
async function exportSnapshot(session: ReservedSql, maxAge: number): Promise<string> {
  await session`begin isolation level repeatable read read only`;
  await session.unsafe(`set local idle_in_transaction_session_timeout = '${maxAge}s'`);
  const [row] = await session<{ id: string }[]>`select pg_export_snapshot() as id`;
  if (row === undefined) throw new Error("Postgres exported no snapshot");
  return row.id;
}

/** Whether readers see a block in the snapshot: not if the former indexer ended while it was catching up. */
const hasBlock = (sql: Sql, snapshot: string, viewsSchema: string): Promise<boolean> =>
  sql.begin("isolation level repeatable read read only", async (tx) => {
    await tx.unsafe(`set transaction snapshot '${snapshot}'`);
    return (await tx`select 1 from ${tx(viewsSchema)}.head`).length > 0;
  });

/** Shows the rows again if the former process ended before Ponder changed them, or once they were those of one block again. */
async function showLastBlock(sql: Sql, { schema }: Build): Promise<void> {
  const { block } = await indexedBlock(sql, schema);
  if (block === null) return;
  await sql`
    update service.indexer_deployment set catching_up = false
    where schema_name = ${schema} and catching_up and last_block <= ${String(block)}::numeric`;
}

/** Hides the rows of a build from readers, who find `snapshot` instead. */
const hideRows = (sql: Sql, { schema }: Build, snapshot: string | null): Promise<unknown> =>
  sql.begin(async (tx) => {
    const [found] = await tx`select 1 where to_regclass(${`"${schema}"._ponder_meta`}) is not null`;
    if (found) {
      await tx`
        update service.indexer_deployment set last_block = (select max(number) from ${tx(schema)}.head)
        where schema_name = ${schema} and not catching_up`;
      // The former process said so; Ponder says it again.
      await tx`update ${tx(schema)}._ponder_meta set value = jsonb_set(value, '{is_ready}', '0') where key = 'app'`;
    }
    await tx`
      update service.indexer_deployment set catching_up = true, snapshot = ${snapshot} where schema_name = ${schema}`;
  });

/**
 * Call it before Ponder starts. From now on readers do not see the build's rows, until they are those of one block again. The
 * rows as they are now stay readable in a snapshot for `maxAge` seconds at most, if the views are on this build and show a block.
 * The caller holds the lock of the schema, which has its row in `service.indexer_deployment`.
 */
export async function beginCatchUp(
  sql: Sql,
  databaseUrl: string,
  { maxAge, ...build }: Build & { readonly maxAge: number },
): Promise<LastBlock> {
  if (maxAge === 0 || (await servedSchema(sql, build.viewsSchema)) !== build.schema) {
    await hideRows(sql, build, null);
    return { release: async () => {} };
  }
  await showLastBlock(sql, build);
  // Without a time limit: its transaction stays idle until its release.
  const holder = postgres(databaseUrl, {
    ...endWhenSilent(0),
    max: 1,
    idle_timeout: undefined,
    max_lifetime: null,
    connect_timeout: 3,
    fetch_types: false, // see `connect`
    onnotice: () => {},
    connection: { application_name: `${build.schema}_last_block` },
  });
  const release = () => holder.end({ timeout: 0 });
  try {
    // The driver reserves only a connection that is open already.
    await holder`select`;
    const snapshot = await exportSnapshot(await holder.reserve(), maxAge);
    const readable = await hasBlock(sql, snapshot, build.viewsSchema);
    await hideRows(sql, build, readable ? snapshot : null);
    if (!readable) await release();
  } catch (error) {
    await release();
    throw error;
  }
  return { release };
}
