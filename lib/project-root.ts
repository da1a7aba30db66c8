import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "ponder.config.ts"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error("no folder above this program contains ponder.config.ts");
    folder = parent;
  }
  return folder;
}

/** The project's folder, found from the sources and from the bundles in `dist/` alike. */
export const projectRoot = findRoot();
