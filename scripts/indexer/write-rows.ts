/**
 * How the rows of a live block are written: one prepared statement for each table, with the rows as one JSON value. Ponder would
 * build a statement with a parameter for each column of each row, which Postgres then parses and plans.
 */
import { type Column, getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";

export type Row = Readonly<Record<string, unknown>>;
export type Naming = {
  /** The name of a column in Postgres. */
  readonly nameOf: (column: Column) => string;
  /** The names of the primary key's columns in Postgres. */
  readonly primaryKey: readonly string[];
};
type WriteColumn = readonly [key: string, name: string, column: Column];
type TableWrites = {
  readonly columns: readonly WriteColumn[];
  readonly insert: string;
  readonly upsert: string;
};

const known = new WeakMap<PgTable, TableWrites>();
const quoted = (name: string) => `"${name}"`;

function writesOf(table: PgTable, { nameOf, primaryKey }: Naming): TableWrites {
  const columns = Object.entries(getTableColumns(table)).map(
    ([key, column]): WriteColumn => [key, nameOf(column), column],
  );
  const names = columns.map(([, name]) => name);
  const target = `${quoted(getTableConfig(table).schema ?? "public")}.${quoted(getTableName(table))}`;
  const list = names.map(quoted).join(", ");
  const insert = `insert into ${target} (${list}) select ${list} from json_populate_recordset(null::${target}, $1)`;
  const changes = names.filter((name) => !primaryKey.includes(name));
  const updates = changes.map((name) => `${quoted(name)} = excluded.${quoted(name)}`).join(", ");
  const conflict = `on conflict (${primaryKey.map(quoted).join(", ")})`;
  return {
    columns,
    insert,
    upsert: `${insert} ${conflict} do ${updates ? `update set ${updates}` : "nothing"}`,
  };
}

/** A value as JSON: `json_populate_recordset` reads a number of any size from a string. */
function jsonValue(column: Column, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (column.dataType === "json") return value;
  const driverValue = column.mapToDriverValue(value);
  return typeof driverValue === "bigint" ? String(driverValue) : driverValue;
}

/**
 * A statement for `pg` that inserts rows, or with `replace` replaces those that are there. The driver prepares it once for each
 * connection.
 */
export function writeRows(
  table: PgTable,
  rows: readonly Row[],
  options: Naming & { readonly replace: boolean },
): { name: string; text: string; values: [string] } {
  const writes = known.get(table) ?? writesOf(table, options);
  known.set(table, writes);
  const values = rows.map((row) =>
    Object.fromEntries(writes.columns.map(([key, name, column]) => [name, jsonValue(column, row[key])])),
  );
  const [verb, text] = options.replace ? ["replace", writes.upsert] : ["insert", writes.insert];
  return { name: `${verb} ${getTableName(table)}`, text, values: [JSON.stringify(values)] };
}
