/**
 * How the indexer writes rows of a table: a prepared statement for each table, with the rows as one JSON value. Ponder would build a
 * statement with a parameter for each column of each row. Drizzle takes longer to build it than Postgres to store the rows, and Postgres
 * must parse and plan it.
 */
import { type Column, getTableColumns, getTableName } from "drizzle-orm";
import { CasingCache } from "drizzle-orm/casing";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";

export type Row = Readonly<Record<string, unknown>>;
/** What happens if a row's primary key is stored already: the statement fails, or the stored row is replaced, or kept. */
export type OnConflict = "fail" | "replace" | "keep";
type WriteColumn = readonly [key: string, name: string, column: Column];
type TableWrites = { readonly columns: readonly WriteColumn[] } & Readonly<Record<OnConflict, string>>;

const known = new WeakMap<PgTable, TableWrites>();
/** Names columns as Ponder does. */
const casing = new CasingCache("snake_case");
const quoted = (name: string) => `"${name}"`;

function findWrites(table: PgTable): TableWrites {
  const columns = Object.entries(getTableColumns(table)).map(
    ([key, column]): WriteColumn => [key, casing.getColumnCasing(column), column],
  );
  const { schema = "public", name, primaryKeys } = getTableConfig(table);
  const keyColumns =
    primaryKeys[0]?.columns ?? columns.map(([, , column]) => column).filter(({ primary }) => primary);
  const primaryKey = keyColumns.map((column) => casing.getColumnCasing(column));
  const names = columns.map(([, name]) => name);
  const target = `${quoted(schema)}.${quoted(name)}`;
  const list = names.map(quoted).join(", ");
  const insert = `insert into ${target} (${list}) select ${list} from json_populate_recordset(null::${target}, $1)`;
  const changes = names.filter((name) => !primaryKey.includes(name));
  const updates = changes.map((name) => `${quoted(name)} = excluded.${quoted(name)}`).join(", ");
  const conflict = `on conflict (${primaryKey.map(quoted).join(", ")})`;
  return {
    columns,
    fail: insert,
    replace: `${insert} ${conflict} do update set ${updates}`,
    keep: `${insert} ${conflict} do nothing`,
  };
}

function writesOf(table: PgTable): TableWrites {
  const writes = known.get(table) ?? findWrites(table);
  if (!known.has(table)) known.set(table, writes);
  return writes;
}

/**
 * A value as JSON: `json_populate_recordset` reads a number of any size from a string.
 * @throws for a value that JSON would change, such as bytes: no table has any
 */
function jsonValue(column: Column, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (column.dataType === "json") return value;
  const driverValue: unknown = column.mapToDriverValue(value);
  if (typeof driverValue === "bigint") return String(driverValue);
  if (typeof driverValue === "string" || typeof driverValue === "boolean") return driverValue;
  if (typeof driverValue === "number" && Number.isFinite(driverValue)) return driverValue;
  throw new Error(`the column ${column.name} has a value that cannot be written as JSON: ${driverValue}`);
}

/** A statement for `pg` that inserts rows. The driver prepares it once for each connection. */
export function writeRows(
  table: PgTable,
  rows: readonly Row[],
  onConflict: OnConflict,
): { name: string; text: string; values: [string] } {
  const writes = writesOf(table);
  const values = rows.map((row) =>
    Object.fromEntries(writes.columns.map(([key, name, column]) => [name, jsonValue(column, row[key])])),
  );
  return {
    name: `${onConflict} ${getTableName(table)}`,
    text: writes[onConflict],
    values: [JSON.stringify(values)],
  };
}
