/**
 * How Ponder's cache writes up to 20 rows of a table, as in a live block: a prepared statement for each table, with the rows as one
 * JSON value. Ponder would build a statement with a parameter for each column of each row, which Postgres then parses and plans.
 */
import { type Column, getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";

export type Row = Readonly<Record<string, unknown>>;
export type Naming = {
  /** The name of a column in Postgres. */
  readonly nameOf: (column: Column) => string;
  /** The names of the primary key's columns in Postgres. */
  readonly primaryKeyOf: () => readonly string[];
};
type WriteColumn = readonly [key: string, name: string, column: Column];
type TableWrites = {
  readonly columns: readonly WriteColumn[];
  readonly insert: string;
  readonly upsert: string;
};

const known = new WeakMap<PgTable, TableWrites>();
const quoted = (name: string) => `"${name}"`;

function findWrites(table: PgTable, { nameOf, primaryKeyOf }: Naming): TableWrites {
  const primaryKey = primaryKeyOf();
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
  return { columns, insert, upsert: `${insert} ${conflict} do update set ${updates}` };
}

function writesOf(table: PgTable, naming: Naming): TableWrites {
  const writes = known.get(table) ?? findWrites(table, naming);
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

/**
 * A statement for `pg` that inserts rows, or with `replace` replaces those that are there. The driver prepares it once for each
 * connection.
 */
export function writeRows(
  table: PgTable,
  rows: readonly Row[],
  options: Naming & { readonly replace: boolean },
): { name: string; text: string; values: [string] } {
  const writes = writesOf(table, options);
  const values = rows.map((row) =>
    Object.fromEntries(writes.columns.map(([key, name, column]) => [name, jsonValue(column, row[key])])),
  );
  const [verb, text] = options.replace ? ["replace", writes.upsert] : ["insert", writes.insert];
  return { name: `${verb} ${getTableName(table)}`, text, values: [JSON.stringify(values)] };
}
