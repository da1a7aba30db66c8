import { createWriteStream } from "node:fs";
import { open, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { ISql, ReservedSql, Sql } from "postgres";
import { appliedMigration } from "../../lib/db/migrate.ts";
import { type BackupHeader, type BackupTable, CLOSING_LINE, END_OF_ROWS, FORMAT } from "./format.ts";
import { serviceTables } from "./service-schema.ts";

/** What a backup says of itself, in the snapshot of a transaction. */
async function readHeader(sql: ISql): Promise<BackupHeader> {
  const [now] = await sql<{ takenAt: Date }[]>`select now() as "takenAt"`;
  if (!now) throw new Error("Postgres has no clock");
  const tables: BackupTable[] = [];
  for (const table of await serviceTables(sql)) {
    const [counted] = await sql<{ rows: number }[]>`
      select count(*)::float8 as rows from ${sql(`service.${table.name}`)}`;
    tables.push({ ...table, rows: counted?.rows ?? 0 });
  }
  return {
    format: FORMAT,
    migration: await appliedMigration(sql),
    takenAt: now.takenAt.toISOString(),
    blocks: [
      ...(await sql<{ chainId: number; number: string }[]>`
        select chain_id as "chainId", number from service.watched_block order by chain_id`),
    ],
    // Read after the snapshot was taken, they are not below its rows.
    sequences: [
      ...(await sql<{ name: string; value: string }[]>`
        select sequencename as name, last_value as value from pg_sequences
        where schemaname = 'service' and last_value is not null order by sequencename`),
    ],
    tables,
  };
}

async function* textOf(sql: ISql, header: BackupHeader): AsyncGenerator<string | Buffer> {
  yield `${JSON.stringify(header)}\n`;
  for (const { name, columns } of header.tables) {
    const rows = await sql`copy ${sql(`service.${name}`)} (${sql(columns)}) to stdout`.readable();
    yield* rows;
    // Where the rows end while some wait to be read, the driver leaves its socket paused, and the next statement would wait for ever.
    rows._read(0);
    yield `${END_OF_ROWS}\n`;
  }
  yield `${CLOSING_LINE}\n`;
}

/**
 * Begins the transaction that a backup reads in. It is not the driver's own: after a fault in the middle of a COPY that one would wait
 * for its rollback for ever.
 */
async function beginSnapshot(sql: ReservedSql): Promise<void> {
  await sql`begin isolation level repeatable read read only`;
  await sql`set local idle_in_transaction_session_timeout = 0`;
  await sql`set local statement_timeout = 0`;
  await sql`set local datestyle = 'ISO'`;
  // Postgres would leave out the rows that the login may not see.
  await sql`set local row_security = off`;
}

/**
 * Writes a backup of schema `service` into a new file that only its owner may read, in one snapshot: no process has to stop. The file
 * is on the disk when it resolves; after a fault there is none.
 * @throws when the file exists, or the database or the disk fails
 */
export async function writeBackup(sql: Sql, file: string): Promise<BackupHeader> {
  // The driver reserves only a connection that is open already.
  await sql`select`;
  const session = await sql.reserve();
  let isOurs = false;
  try {
    await (await open(file, "wx", 0o600)).close();
    isOurs = true;
    await beginSnapshot(session);
    const header = await readHeader(session);
    const output = createWriteStream(file, { flush: true });
    await pipeline(Readable.from(textOf(session, header)), createGzip(), output);
    await session`commit`;
    return header;
  } catch (error) {
    if (isOurs) await rm(file, { force: true });
    throw error;
  } finally {
    session.release();
  }
}
