/** Who may import whom: the rule that keeps keys out of the api and side effects out of the projections. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import ts from "typescript";
import { projectRoot } from "../../lib/project-root.ts";

/** For each folder or file of the top level: what of ours it may import beside itself, and which packages if not all. */
const rules: Readonly<Record<string, { ours: readonly string[]; packages?: readonly RegExp[] }>> = {
  abis: { ours: [], packages: [] },
  "ponder.schema.ts": { ours: [], packages: [/^ponder$/] },
  "ponder.config.ts": { ours: ["abis", "lib"] },
  src: { ours: ["abis"], packages: [/^ponder(:|$)/, /^(viem|hono|drizzle-orm)(\/|$)/] },
  lib: { ours: ["abis", "ponder.schema.ts"] },
  api: { ours: ["abis", "lib", "ponder.schema.ts"] },
  workers: { ours: ["abis", "lib", "ponder.schema.ts"] },
};

/** The top-level folder or file that a path inside the project belongs to. */
const owner = (path: string) => relative(projectRoot, path).split(sep)[0] ?? "";

function filesBelow(entry: string): string[] {
  const path = join(projectRoot, entry);
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(path, name));
}

/** One line for each import that its file may not make. */
export function boundaryFaults(): string[] {
  const faults: string[] = [];
  for (const [entry, rule] of Object.entries(rules)) {
    for (const file of filesBelow(entry)) {
      for (const { fileName: imported } of ts.preProcessFile(readFileSync(file, "utf8")).importedFiles) {
        const allowed = imported.startsWith(".")
          ? [entry, ...rule.ours].includes(owner(join(dirname(file), imported)))
          : !rule.packages || rule.packages.some((pattern) => pattern.test(imported));
        if (!allowed) faults.push(`${relative(projectRoot, file)} may not import ${imported}`);
      }
    }
  }
  return faults;
}
