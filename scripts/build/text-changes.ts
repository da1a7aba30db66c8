/** Changes of a package's text, which our bundles and the tests' own processes run in place of the original. */
import { readFileSync } from "node:fs";
import { relative, sep } from "node:path";
import type { Plugin } from "esbuild";

/** `text` occurs once in its file. */
export type Change = { readonly text: string; readonly becomes: string };

export type PackageChanges = {
  readonly name: string;
  /** The folder of the changed files. */
  readonly folder: string;
  /** By the file's path from the folder. */
  readonly files: Readonly<Record<string, readonly Change[]>>;
};

const pathIn = ({ folder }: PackageChanges, path: string): string =>
  relative(folder, path).replaceAll(sep, "/");

/**
 * The text of the file at `path` as we run it; undefined for a file that is not changed.
 * @throws when the installed version of the package has another text
 */
export function changeText(changes: PackageChanges, path: string, source: string): string | undefined {
  const file = pathIn(changes, path);
  return changes.files[file]?.reduce((text, change) => {
    const parts = text.split(change.text);
    if (parts.length !== 2)
      throw new Error(
        `${changes.name}'s ${file} has this text ${parts.length - 1} times, not once: ${change.text}`,
      );
    return parts.join(change.becomes);
  }, source);
}

/** Bundles a package's files as we change them. The build fails where the installed version lacks one, or its text. */
export const changedPackage = (changes: PackageChanges): Plugin => ({
  name: `changes of ${changes.name}`,
  setup({ onLoad, onEnd }) {
    const missing = new Set(Object.keys(changes.files));
    const folder = changes.folder.replace(/\W/g, "\\$&");
    // esbuild matches the filter by itself: it asks only about the package's files, and not about each of thousands.
    onLoad({ filter: new RegExp(`^${folder}.*\\.js$`) }, ({ path }) => {
      const contents = changeText(changes, path, readFileSync(path, "utf8"));
      if (contents === undefined) return undefined;
      missing.delete(pathIn(changes, path));
      return { contents, loader: "js" };
    });
    onEnd(() => ({
      errors: [...missing].map((file) => ({ text: `this ${changes.name} has no ${file} to change` })),
    }));
  },
});
