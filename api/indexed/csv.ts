/** Answers as tables for spreadsheets and notebooks: RFC 4180, one header line, `\r\n` between lines. */
import { z } from "@hono/zod-openapi";

/** A route whose answer has the type `application/json`. */
export type JsonRoute = {
  readonly responses: {
    readonly 200: { readonly content: { readonly "application/json": { readonly schema: z.ZodType } } };
  };
};

/**
 * The table within an answer: the objects of its first list, or the answer itself as the only row. A nested object's fields
 * become columns of their own (`position.blockNumber`); a list inside a row stays JSON.
 */
export type CsvTable = {
  /** The list's field; undefined where the answer is the row. */
  readonly list: string | undefined;
  readonly columns: readonly string[];
};

/** The schema without `nullable`, `optional` and defaults. */
function inner(schema: unknown): unknown {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return inner(schema.unwrap());
  if (schema instanceof z.ZodDefault) return inner(schema.unwrap());
  return schema;
}

/** The columns of a row of this type; of a union, those of all its forms. */
function columnsOf(schema: unknown, prefix = ""): string[] {
  const type = inner(schema);
  if (type instanceof z.ZodUnion) {
    return [...new Set(type.options.flatMap((option) => columnsOf(option, prefix)))];
  }
  if (!(type instanceof z.ZodObject)) return [prefix.slice(0, -1)];
  return Object.entries(type.shape).flatMap(([name, field]) => columnsOf(field, `${prefix}${name}.`));
}

/** @throws when the answer is no object: every answer of the API is one. */
export function csvTable(schema: z.ZodType): CsvTable {
  const type = inner(schema);
  if (!(type instanceof z.ZodObject)) throw new Error("the answer is no object");
  for (const [list, field] of Object.entries(type.shape)) {
    const array = inner(field);
    if (array instanceof z.ZodArray && inner(array.element) instanceof z.ZodObject)
      return { list, columns: columnsOf(array.element) };
  }
  return { list: undefined, columns: columnsOf(type) };
}

const fields = z.record(z.string(), z.unknown());

/** The value at a column's path; undefined below a null. */
function valueAt(row: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return row;
  const object = fields.safeParse(row);
  return object.success ? valueAt(object.data[name], rest) : undefined;
}

/** Text that a spreadsheet would take for a formula, and that is no number. */
const FORMULA = /^[=+\-@\t\r](?!\d+(\.\d+)?$)/;

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const plain = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** The table in an answer of JSON text. An empty list is a table with the header alone. */
export function csvText({ list, columns }: CsvTable, json: string): string {
  const body = fields.parse(JSON.parse(json));
  const rows = list === undefined ? [body] : z.array(z.unknown()).parse(body[list] ?? []);
  const paths = columns.map((column) => column.split("."));
  const lines = rows.map((row) => paths.map((path) => cell(valueAt(row, path))).join(","));
  return `${[columns.map(cell).join(","), ...lines].join("\r\n")}\r\n`;
}

const pageWithCursor = z.object({
  nextCursor: z.string().nullish(),
  next_cursor: z.string().nullish(),
});
/** A page that is found by its offset alone. */
const pageWithOffset = z.object({ total: z.int(), offset: z.int(), count: z.int().min(1) });

/** Path and query of the page after the answer of `url`; undefined at the end, and for an answer without pages. */
export function nextPage(url: string, json: string): string | undefined {
  const body: unknown = JSON.parse(json);
  const { pathname, searchParams } = new URL(url);
  const { nextCursor, next_cursor } = pageWithCursor.parse(body);
  // Null at the end, and undefined where pages have no cursor.
  const cursor = nextCursor === undefined ? next_cursor : nextCursor;
  const { data: page } = pageWithOffset.safeParse(body);
  if (cursor) {
    searchParams.set("cursor", cursor);
    searchParams.delete("offset");
  } else if (cursor === undefined && page && page.offset + page.count < page.total) {
    searchParams.set("offset", String(page.offset + page.count));
  } else return undefined;
  return `${pathname}?${searchParams}`;
}
