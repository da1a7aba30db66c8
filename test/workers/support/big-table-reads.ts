import type { Sql } from "postgres";
import { bigTables } from "./fill-ledger.ts";

type Reads = Record<string, { scanned: number; fetched: number }>;

/** Rows of the big tables that sessions have read so far, by scans and through indexes; this session's newest reads are among them. */
export async function readSoFar(sql: Sql): Promise<Reads> {
  await sql`select pg_stat_force_next_flush()`;
  const rows = await sql<{ table: string; scanned: string; fetched: string }[]>`
    select relname as table, seq_tup_read as scanned, idx_tup_fetch as fetched from pg_stat_user_tables
    where schemaname = 'service' and relname = any(${[...bigTables]}::text[])`;
  return Object.fromEntries(
    rows.map(({ table, scanned, fetched }) => [
      table,
      { scanned: Number(scanned), fetched: Number(fetched) },
    ]),
  );
}
