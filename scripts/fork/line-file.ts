/** Files of JSON lines, to which what was read is appended. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import type { z } from "zod";

function parsed<T>(line: string, shape: z.ZodType<T>): T | undefined {
  try {
    return shape.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** The lines of a file up to the first that is damaged, as by a process that was killed: there the file is cut off. */
export function readLines<T>(file: string, shape: z.ZodType<T>): T[] {
  mkdirSync(dirname(file), { recursive: true });
  if (!existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  const lines: T[] = [];
  let end = 0;
  for (let next = text.indexOf("\n"); next >= 0; next = text.indexOf("\n", end)) {
    const line = parsed(text.slice(end, next), shape);
    if (line === undefined) break;
    lines.push(line);
    end = next + 1;
  }
  if (end < text.length) truncateSync(file, Buffer.byteLength(text.slice(0, end)));
  return lines;
}

export const appendLine = (file: string, value: unknown): void =>
  appendFileSync(file, `${JSON.stringify(value)}\n`);
