/** Tables of sums over indexed rows. Postgres keeps them up to date; the projections write only the rows. */
import { getTableColumns, getTableName, sql } from "drizzle-orm";
import { getTableConfig, type PgColumnBuilderBase, type PgTable, pgTable } from "drizzle-orm/pg-core";
import { onchainView } from "ponder";

/**
 * The rows of one table that count in a sum. All expressions are SQL over the columns of the row itself, because each table
 * is reverted on its own in a reorganisation. A transfer that changes two balances is two sources over the same table.
 */
export type SumSource<Key extends string = string, Value extends string = string> = {
  readonly from: PgTable;
  /** Only rows for which this holds count. A key must not be null. */
  readonly where?: string | undefined;
  readonly key: Readonly<Record<Key, string>>;
  /** What a row adds. A value that is not named, or null, adds nothing. */
  readonly add: Readonly<Partial<Record<Value, string>>>;
};

/** Names as in the database. */
export type Sum = {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly isKey: boolean }[];
  /** Other columns by which readers find the sums. */
  readonly indexes: readonly (readonly string[])[];
  readonly sources: readonly SumSource[];
};

const declared = Symbol.for("cover.sum");

/** Ponder's naming of columns. */
export const columnName = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const inColumns = (expressions: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(expressions).flatMap(([name, text]) =>
      text === undefined ? [] : [[columnName(name), text]],
    ),
  );

export const keysOf = ({ columns }: Sum): string[] =>
  columns.filter(({ isKey }) => isKey).map(({ name }) => name);

/**
 * What the rows of a relation add to a sum, one line for each row and source.
 * @param sign `-` for rows that no longer count
 */
export function additions({ columns }: Sum, source: SumSource, relation: string, sign: "" | "-"): string {
  const selected = columns.map(({ name, isKey }) => {
    const added = source.add[name];
    const value = added === undefined ? "0" : `${sign}coalesce(${added}, 0)`;
    return `${isKey ? source.key[name] : value} as "${name}"`;
  });
  const where = source.where === undefined ? "" : ` where ${source.where}`;
  return `select ${[...selected, `${sign}1 as sources`].join(", ")} from ${relation}${where}`;
}

/** The query that computes a sum anew from all its sources in `schema`. A key has a row while a row of a source counts. */
export function recompute(sum: Sum, schema: string): string {
  const selected = sum.columns.map(
    ({ name, type, isKey }) => `${isKey ? `"${name}"` : `sum("${name}")`}::${type} as "${name}"`,
  );
  const keys = keysOf(sum).map((name) => `"${name}"`);
  const all = sum.sources.map((source) =>
    additions(sum, source, `"${schema}"."${getTableName(source.from)}"`, ""),
  );
  return `select ${selected.join(", ")} from (${all.join(" union all ")}) a group by ${keys.join(", ")}`;
}

type Columns = Record<string, PgColumnBuilderBase>;

/**
 * Declares sums. For Ponder they are a view, computed from all sources. Before the first row `src/sums.ts` makes it a view of
 * a table that triggers on the sources keep up to date.
 * @param columns the keys, and sums that are never null
 */
export function sumTable<Name extends string, All extends Columns, Key extends keyof All & string>(
  name: Name,
  columns: All,
  sum: {
    readonly key: readonly Key[];
    readonly indexes?: readonly (readonly (keyof All & string)[])[];
    /** Of one table, or of several with the same columns. */
    readonly sources: readonly (Omit<SumSource<Key, Exclude<keyof All & string, Key>>, "from"> & {
      readonly from: PgTable | readonly PgTable[];
    })[];
  },
) {
  const isKey = (column: string) => sum.key.some((key) => key === column);
  const known: Sum = {
    name,
    columns: Object.entries(getTableColumns(pgTable(name, columns))).map(([column, built]) => ({
      ...{ name: columnName(column), type: built.getSQLType(), isKey: isKey(column) },
    })),
    indexes: (sum.indexes ?? []).map((index) => index.map(columnName)),
    sources: sum.sources.flatMap(({ from, key, add, where }) =>
      [from].flat().map((table) => ({ from: table, where, key: inColumns(key), add: inColumns(add) })),
    ),
  };
  const [first] = known.sources;
  const schema = (first && getTableConfig(first.from).schema) ?? "public";
  const view = onchainView(name, columns).as(sql.raw(recompute(known, schema)));
  return Object.assign(view, { [declared]: known });
}

const isSum = (value: object): value is { [declared]: Sum } => declared in value;

/** The sums among the exports of the schema. */
export const sumsOf = (schema: object): Sum[] =>
  Object.values(schema).flatMap((value: unknown) =>
    typeof value === "object" && value !== null && isSum(value) ? [value[declared]] : [],
  );
