/**
 * JSON that Postgres writes. A page of rows that become objects, and then text, costs the process several times as much
 * (`npm run bench reads`).
 */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

/** A field's value as JSON text, in parts; none of them may be null. */
export type JsonField = readonly SQLWrapper[];

const literal = (text: string): SQL => sql.raw(`'${text}'`);

/** Text that needs no escaping: hex, and integers of any size as decimal strings. */
export const plainText = (value: SQLWrapper): JsonField => [sql.raw(`'"'`), value, sql.raw(`'"'`)];

/** The same, or null. */
export const plainTextOrNull = (value: SQLWrapper): JsonField => [sql`coalesce('"' || ${value} || '"', 'null')`];

/** The same text in each row. */
export const constant = (text: string): JsonField => [literal(`"${text}"`)];

/** Any text, or null. */
export const textOrNull = (value: SQLWrapper): JsonField => [sql`coalesce(to_json(${value})::text, 'null')`];

/** An integer that fits a JSON number, or null. */
export const numberOrNull = (value: SQLWrapper): JsonField => [sql`coalesce(${value}::text, 'null')`];

/** A condition; false where it is unknown. */
export const boolean = (condition: SQLWrapper): JsonField => [
  sql`case when ${condition} then 'true' else 'false' end`,
];

/** JSON text of its own; null is null. */
export const jsonOrNull = (value: SQLWrapper): JsonField => [sql`coalesce(${value}, 'null')`];

/** Most arguments of a Postgres function. */
const MAX_ARGUMENTS = 100;

/** `concat` of all parts; nested where they are more than a function takes. */
function concat(parts: readonly SQLWrapper[]): SQL<string> {
  if (parts.length > MAX_ARGUMENTS) {
    const half = Math.ceil(parts.length / 2);
    return concat([concat(parts.slice(0, half)), concat(parts.slice(half))]);
  }
  return sql<string>`concat(${sql.join([...parts], sql`, `)})`;
}

/** One row's object, with its fields in this order. Names are of letters. */
export function jsonObject(fields: Readonly<Record<string, JsonField>>): SQL<string> {
  const parts = Object.entries(fields).flatMap(([name, value], n) => [
    literal(`${n === 0 ? "{" : ","}"${name}":`),
    ...value,
  ]);
  return concat([...parts, literal("}")]);
}

/** The text of a body of type `Body`, as `JSON.stringify` would write it. */
export class JsonText<Body> {
  declare readonly of: Body;
  constructor(readonly text: string) {}
}

/** An object with `fields` and, last, a list of `entries`, which are JSON text already. */
export const withEntries = <Body>(fields: object, name: string, entries: readonly string[]): JsonText<Body> =>
  new JsonText(`${JSON.stringify(fields).slice(0, -1)},"${name}":[${entries.join(",")}]}`);
