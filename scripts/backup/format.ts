/**
 * A backup's file is gzip of text: the header, one line of JSON; then for each of its tables the rows, as COPY writes them, and a line
 * with the end mark; then the closing line. COPY escapes line breaks and backslashes, so no row is equal to the end mark.
 */
import { z } from "zod";

/** Rises with each change of the format. */
export const FORMAT = 1;

export const END_OF_ROWS = "\\.";
/** A file that does not end with it was cut off. */
export const CLOSING_LINE = '{"complete":true}';

const digits = z.string().regex(/^\d{1,19}$/);

const table = z.object({
  name: z.string(),
  /** In the order of the rows' values. */
  columns: z.array(z.string()).min(1),
  rows: z.int().nonnegative(),
});

const header = z.object({
  format: z.literal(FORMAT),
  /** The number of the newest migration. */
  migration: z.int().nonnegative(),
  /** When the snapshot was taken, by the database's clock. */
  takenAt: z.iso.datetime(),
  /** By chain, the block up to which the ledger was settled. */
  blocks: z.array(z.object({ chainId: z.int().positive(), number: digits })),
  sequences: z.array(z.object({ name: z.string(), value: digits })),
  /** A table comes after those that its foreign keys refer to. */
  tables: z.array(table),
});

export type BackupTable = z.output<typeof table>;
export type BackupHeader = z.output<typeof header>;

/** The file is no backup, or not a whole one. */
export class BackupFileError extends Error {
  override name = "BackupFileError";
}

/** @throws {BackupFileError} when the line is no header, or one of another format */
export function parseHeader(line: string): BackupHeader {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    throw new BackupFileError("the file is no backup: its first line is no JSON");
  }
  const result = header.safeParse(json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new BackupFileError(`the file's header is invalid: ${issue?.path.join(".")}: ${issue?.message}`);
}
