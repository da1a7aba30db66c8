/** Reads the indexed rows through the views schema. */
import { getTableName, getViewName, is } from "drizzle-orm";
import { PgTable, PgView } from "drizzle-orm/pg-core";
import postgres from "postgres";
import * as schema from "../../../ponder.schema.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import type { TestClient } from "../../support/chain.ts";

export const VIEWS_SCHEMA = "indexer";

/** The names of all indexed tables and views. */
export const tableNames: readonly string[] = Object.values(schema).flatMap((value) => {
  if (is(value, PgTable)) return getTableName(value);
  return is(value, PgView) ? getViewName(value) : [];
});

/** A row, with numerics as text, because 78 digits do not fit into a JavaScript number. */
export type Row = Readonly<Record<string, unknown>>;

/** The sort key of a row, independent of the order in which Postgres returns JSON fields. */
export function textOf(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value) ?? "";
  const fields = Object.entries(value).map(([name, field]) => `${name}:${textOf(field)}`);
  return fields.sort().join(",");
}
export const byText = (a: unknown, b: unknown): number => (textOf(a) < textOf(b) ? -1 : 1);

/** The schema of the build behind the views; undefined while there are no views. */
export async function servedSchema(sql: postgres.ISql): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    select distinct table_schema as name from information_schema.view_table_usage
    where view_schema = ${VIEWS_SCHEMA} and view_name = 'head' and table_name = 'head'`;
  return row?.name;
}

/** Opens the views schema. Call `close` at the end of the test. */
export function openRows(databaseUrl: string, viewsSchema = VIEWS_SCHEMA) {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });

  /** All rows of a table, sorted by their JSON. */
  async function rows(table: string): Promise<readonly Row[]> {
    const found = await sql<Row[]>`select * from ${sql(viewsSchema)}.${sql(table)}`;
    return found.map((row) => ({ ...row })).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }

  /** The rows of a table with these values. */
  async function found(table: string, where: Row): Promise<readonly Row[]> {
    const all = await rows(table);
    return all.filter((row) => Object.entries(where).every(([name, value]) => row[name] === value));
  }

  /** All rows of every table. */
  async function everything(): Promise<Readonly<Record<string, readonly Row[]>>> {
    const all: Record<string, readonly Row[]> = {};
    for (const name of tableNames) all[name] = await rows(name);
    return all;
  }

  /** Waits until the head row is the chain's newest block. */
  async function caughtUp(client: TestClient, timeoutMs?: number): Promise<void> {
    await waitFor({
      what: "the index to reach the chain's head",
      probe: async () => {
        const block = await client.getBlock();
        // The build that started last: until it has caught up, the views are on the one before.
        const [head] = await sql<Row[]>`
          select h.hash from ${sql(viewsSchema)}.head h
          where not (select catching_up from service.indexer_deployment where views_schema = ${viewsSchema}
            order by started_at desc limit 1)`;
        return head?.hash === block.hash ? true : undefined;
      },
      timeoutMs,
    });
  }

  return { sql, rows, found, everything, caughtUp, close: () => sql.end() };
}

export type Rows = ReturnType<typeof openRows>;
