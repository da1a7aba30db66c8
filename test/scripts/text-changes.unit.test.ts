import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { changedPackage, type PackageChanges } from "../../scripts/build/text-changes.ts";

/** Bundles a module of a package; the build changes the package's `files`. */
async function bundle(source: string, files: PackageChanges["files"]): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), "text-changes-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = join(root, "node_modules", "some.package");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "index.js"), source);
  const { outputFiles } = await build({
    entryPoints: [join(folder, "index.js")],
    bundle: true,
    write: false,
    logLevel: "silent",
    plugins: [changedPackage({ name: "Some package", folder, files })],
  });
  return outputFiles[0]?.text ?? "";
}

const change = { text: "one()", becomes: "two()" };

test("a bundle has a package's text as it is changed", async () => {
  const text = await bundle("one();", { "index.js": [change] });
  expect(text).toContain("two()");
  expect(text).not.toContain("one()");
});

test.each([
  ["lacks the text", "other();", "index.js has this text 0 times, not once: one()"],
  ["has the text twice", "one(); one();", "index.js has this text 2 times, not once: one()"],
])("the build stops when another version of the package %s", async (_, source, message) => {
  await expect(bundle(source, { "index.js": [change] })).rejects.toThrow(message);
});

test("the build stops when another version of the package lacks the file", async () => {
  await expect(bundle("one();", { "gone.js": [change] })).rejects.toThrow(
    "this Some package has no gone.js to change",
  );
});
