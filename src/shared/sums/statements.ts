/** The SQL by which Postgres keeps the tables of sums. */
import { getTableName } from "drizzle-orm";
import { additions, keysOf, type Sum } from "./sum-table.ts";

const OPERATIONS = ["insert", "update", "delete"] as const;
type Operation = (typeof OPERATIONS)[number];

/** One trigger for each source table and operation: it adds what a statement's rows change to all sums of the table. */
export type SumTrigger = {
  readonly table: string;
  readonly name: string;
  readonly functionName: string;
  /** The body of the trigger's function. */
  readonly body: string;
  readonly operation: Operation;
};

/** The table behind the view of a sum. Besides the declared columns it has `sources`, the number of rows that count. */
export const keptTable = ({ name }: Sum, schema: string): string => `"${schema}"."kept_${name}"`;

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(", ");

/** What the old and new rows of a statement on `table` change, one line for each row and source. */
function changes(sum: Sum, table: string, operation: Operation): string {
  const own = sum.sources.filter(({ from }) => getTableName(from) === table);
  const added = own.map((source) => additions(sum, source, "new_rows", ""));
  const taken = own.map((source) => additions(sum, source, "old_rows", "-"));
  return { insert: added, update: [...taken, ...added], delete: taken }[operation].join("\n    union all ");
}

/** Adds the changes to a sum, and deletes the keys for which no row counts any more. */
function applyChanges(sum: Sum, schema: string, table: string, operation: Operation): string {
  const target = keptTable(sum, schema);
  const columns = [...sum.columns.filter(({ isKey }) => !isKey).map(({ name }) => name), "sources"];
  const keys = quoted(keysOf(sum));
  const from = `from (\n    ${changes(sum, table, operation)}) a`;
  const changed = columns.map((name) => `sum("${name}") <> 0`).join(" or ");
  const upsert = `  insert into ${target} as t (${quoted([...keysOf(sum), ...columns])})
  select ${keys}, ${columns.map((name) => `sum("${name}")`).join(", ")} ${from}
  group by ${keys}${operation === "update" ? ` having ${changed}` : ""}
  on conflict (${keys}) do update set ${columns.map((name) => `"${name}" = t."${name}" + excluded."${name}"`).join(", ")};`;
  if (operation === "insert") return upsert;
  const same = keysOf(sum)
    .map((name) => `t."${name}" = a."${name}"`)
    .join(" and ");
  return `${upsert}\n  if found then\n  delete from ${target} t using (\n    ${changes(sum, table, operation)}) a
  where ${same} and t.sources = 0;\n  end if;`;
}

/** The triggers of these sums, on all their sources. */
export function sumTriggers(sums: readonly Sum[], schema: string): SumTrigger[] {
  const sources = (sum: Sum) => sum.sources.map(({ from }) => getTableName(from));
  return [...new Set(sums.flatMap(sources))].flatMap((table) =>
    OPERATIONS.map((operation) => {
      const own = sums.filter((sum) => sources(sum).includes(table));
      const applied = own.map((sum) => applyChanges(sum, schema, table, operation)).join("\n");
      return {
        ...{ table, operation, name: `sums_${operation}`, functionName: `sums_${operation}_${table}` },
        // An upsert runs the triggers of both operations, one of them for no row.
        body: `\nbegin\n  if not exists (select from ${operation === "delete" ? "old_rows" : "new_rows"}) then return null; end if;
${applied}\n  return null;\nend\n`,
      };
    }),
  );
}

const TRANSITIONS: Readonly<Record<Operation, string>> = {
  insert: "new table as new_rows",
  update: "old table as old_rows new table as new_rows",
  delete: "old table as old_rows",
};

/**
 * Creates the tables of these sums, the triggers on their sources, which must be empty, and the views of the tables in place
 * of those that Ponder created.
 */
export function createSums(sums: readonly Sum[], schema: string): string[] {
  const tables = sums.flatMap((sum) => {
    const { name, columns, indexes } = sum;
    const kept = keptTable(sum, schema);
    const typed = columns.map((column) => `"${column.name}" ${column.type} not null`);
    return [
      `create table ${kept} (${typed.join(", ")}, sources bigint not null, primary key (${quoted(keysOf(sum))}))`,
      ...indexes.map((indexed) => `create index on ${kept} (${quoted(indexed)})`),
      `create or replace view "${schema}"."${name}" as select ${quoted(columns.map((column) => column.name))} from ${kept}`,
    ];
  });
  const triggers = sumTriggers(sums, schema).flatMap(({ table, name, functionName, body, operation }) => [
    `create function "${schema}"."${functionName}"() returns trigger language plpgsql as $function$${body}$function$`,
    `create trigger "${name}" after ${operation} on "${schema}"."${table}"
      referencing ${TRANSITIONS[operation]} for each statement execute function "${schema}"."${functionName}"()`,
  ]);
  return [...tables, ...triggers];
}
