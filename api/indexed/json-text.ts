/**
 * JSON that Postgres writes. A page of rows that become objects, and then text, costs the process several times as much
 * (`npm run bench reads`).
 */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

/** A field's value as JSON text: literal text, and values that are never null. */
export type JsonField = readonly (string | SQLWrapper)[];

/** Text that needs no escaping: hex, and integers of any size as decimal strings. */
export const plainText = (value: SQLWrapper): JsonField => ['"', value, '"'];

/** The same, or null. */
export const plainTextOrNull = (value: SQLWrapper): JsonField => [
  sql`coalesce('"' || ${value} || '"', 'null')`,
];

/** The same text in each row. */
export const constant = (text: string): JsonField => [`"${text}"`];

/** Any text, or null. */
export const textOrNull = (value: SQLWrapper): JsonField => [sql`coalesce(to_json(${value})::text, 'null')`];

/** An integer that fits a JSON number, or null. */
export const numberOrNull = (value: SQLWrapper): JsonField => [sql`coalesce(${value}::text, 'null')`];

/** A condition; false where it is unknown. */
export const boolean = (condition: SQLWrapper): JsonField => [
  sql`case when ${condition} then 'true' else 'false' end`,
];

/** A field that the field right before it writes too, in one text, because both depend on the same values. */
export const inFieldBefore: JsonField = [];

/** One row's object, with its fields in this order. Names and literal text are plain. */
export function jsonObject(fields: Readonly<Record<string, JsonField>>): SQL<string> {
  const written = Object.entries(fields).filter(([, value]) => value !== inFieldBefore);
  const parts = written.flatMap(([name, value], n) => [`${n === 0 ? "{" : ","}"${name}":`, ...value]);
  const pattern = parts.map((part) => (typeof part === "string" ? part : "%s")).join("");
  const values = parts.filter((part) => typeof part !== "string");
  return sql<string>`format(${sql.join([sql.raw(`'${pattern}}'`), ...values], sql`, `)})`;
}

/** The text of a body of type `Body`, as `JSON.stringify` would write it, in UTF-8. */
export class JsonText<Body> {
  declare readonly of: Body;
  constructor(readonly bytes: Buffer<ArrayBuffer>) {}
}

/** For the select of a long text: its bytes, as they came from Postgres (`scripts/build/postgres-changes.ts`). */
export const asBytes = (text: SQL): SQL<Buffer | null> => sql`(${text})::varchar`;

/** Makes the JSON of an object with `fields` and, last, a list. The entries are JSON text already. */
export function withList<Body>(fields: object, name: string, entries: Buffer): JsonText<Body> {
  const begin = Buffer.from(`${JSON.stringify(fields).slice(0, -1)},"${name}":[`);
  const end = Buffer.from("]}");
  return new JsonText(Buffer.concat([begin, entries, end]));
}
