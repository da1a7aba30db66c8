import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "ponder.config.ts"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error("ponder.config.ts is not in any folder above this program");
    folder = parent;
  }
  return folder;
}

/** The project's folder, the same for the sources and for the bundles in `dist/`. */
export const projectRoot = findRoot();
