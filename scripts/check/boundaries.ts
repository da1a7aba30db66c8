/** The import rules: they keep private keys out of the api, side effects out of the projections, and surfaces apart. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import ts from "typescript";
import { projectRoot } from "../../lib/project-root.ts";

/** For each top-level folder or file: the others that it may import, and the packages, where not all are allowed. */
const rules: Readonly<Record<string, { ours: readonly string[]; packages?: readonly RegExp[] }>> = {
  abis: { ours: [], packages: [] },
  "ponder.schema.ts": { ours: ["src"], packages: [/^ponder$/] },
  "ponder.config.ts": { ours: ["abis", "lib", "src"] },
  src: { ours: ["abis"], packages: [/^ponder(:|$)/, /^(viem|hono|drizzle-orm|pg|zod)(\/|$)/] },
  lib: { ours: ["abis", "ponder.schema.ts"] },
  api: { ours: ["abis", "lib", "ponder.schema.ts"] },
  client: { ours: [], packages: [] },
  dashboard: { ours: ["client"], packages: [/^preact(\/|$)/, /^@preact\/signals$/, /^uplot$/] },
  workers: { ours: ["abis", "lib", "ponder.schema.ts"] },
};

/** The rooms of `api/` that surfaces share, lowest first: each may import the ones before it, and no surface. */
const sharedRooms: readonly string[] = ["http", "chain", "indexed", "buying"];

const partsOf = (path: string) => relative(projectRoot, path).split(sep);

function filesBelow(entry: string): string[] {
  const path = join(projectRoot, entry);
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(path, name));
}

/** A surface of the api imports shared rooms and itself. Files directly in `api/` put the surfaces together. */
function crossesRooms(file: string, imported: string): boolean {
  const [, room = "", inside] = partsOf(file);
  const [top, target = ""] = partsOf(imported);
  if (top !== "api" || inside === undefined || room === target) return false;
  const lower = sharedRooms.indexOf(target);
  return lower < 0 || (sharedRooms.includes(room) && lower > sharedRooms.indexOf(room));
}

/** One line for each forbidden import. */
export function boundaryFaults(): string[] {
  const faults: string[] = [];
  for (const [entry, rule] of Object.entries(rules)) {
    for (const file of filesBelow(entry)) {
      for (const { fileName: imported } of ts.preProcessFile(readFileSync(file, "utf8")).importedFiles) {
        const path = join(dirname(file), imported);
        const allowed = imported.startsWith(".")
          ? [entry, ...rule.ours].includes(partsOf(path)[0] ?? "") && !crossesRooms(file, path)
          : !rule.packages || rule.packages.some((pattern) => pattern.test(imported));
        if (!allowed) faults.push(`${relative(projectRoot, file)} may not import ${imported}`);
      }
    }
  }
  return faults;
}
