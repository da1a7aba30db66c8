import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Replaces each file by a rename, so that a process that starts meanwhile reads either the old one or the new one. */
export function replaceFiles(
  outdir: string,
  files: readonly { readonly path: string; readonly contents: string | Uint8Array }[],
): void {
  mkdirSync(outdir, { recursive: true });
  const unfinished = mkdtempSync(join(outdir, ".unfinished-"));
  try {
    for (const { path, contents } of files) {
      const file = join(unfinished, basename(path));
      writeFileSync(file, contents);
      renameSync(file, path);
    }
  } finally {
    rmSync(unfinished, { recursive: true });
  }
}
