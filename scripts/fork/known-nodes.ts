/** Keeps the limits of forked nodes between starts: requests a second, and blocks of logs in one request. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";

const limitsShape = z.object({ requestsPerSecond: z.int().positive(), blocksOfLogs: z.int().positive() });
const fileShape = z.record(z.string(), limitsShape);
export type NodeLimits = z.output<typeof limitsShape>;

/** A URL may have a key in it. */
const nameOf = (url: string): string => createHash("sha256").update(url).digest("hex");

/** Nothing where the file is damaged: it is found out again. */
function readFile(file: string): z.output<typeof fileShape> {
  try {
    return fileShape.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return {};
  }
}

export const knownLimits = (file: string, url: string): NodeLimits | undefined => readFile(file)[nameOf(url)];

export function keepLimits(file: string, url: string, limits: NodeLimits): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify({ ...readFile(file), [nameOf(url)]: limits }, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}
