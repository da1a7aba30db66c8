/** Notes of what the bundles in `dist/` were made, so that a start can tell whether they are up to date. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Metafile } from "esbuild";
import { z } from "zod";
import { projectRoot } from "../../lib/project-root.ts";
import { buildHash } from "../indexer/schema-name.ts";
import { ponderVersion } from "./indexer-bundle.ts";

const noteFile = join(projectRoot, "dist", "inputs.json");
/** They decide how the sources are bundled; the lock file and our patches stand for all packages. */
const settings = [
  "package-lock.json",
  ...readdirSync(join(projectRoot, "patches")).map((file) => `patches/${file}`),
  "scripts/build.ts",
  ...readdirSync(join(projectRoot, "scripts", "build")).map((file) => `scripts/build/${file}`),
  "scripts/build-client.ts",
  "lib/webhooks/receiver.mjs",
  "lib/webhooks/receiver.d.mts",
  "scripts/build-dashboard.ts",
  "docs/openapi.json",
  "dashboard/index.html",
  "dashboard/page-list.ts",
];

const noteSchema = z.object({
  inputs: z.array(z.string()),
  outputs: z.array(z.string()),
  /** See `hashOf`. */
  hash: z.string(),
});

/** A hash of these files; `buildHash` counts new files of the indexer too. */
function hashOf(files: readonly string[]): string {
  const hash = createHash("sha256").update(buildHash(projectRoot, ponderVersion));
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(join(projectRoot, file)));
  return hash.digest("hex");
}

/** Call it once the bundles are in their places. */
export function noteInputs(metafiles: readonly Metafile[]): void {
  const paths = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const ours = paths.filter((path) => !path.startsWith("node_modules/") && !path.includes(":"));
  const inputs = [...new Set([...settings, ...ours])].sort();
  const outputs = metafiles.flatMap((metafile) => Object.keys(metafile.outputs)).sort();
  writeFileSync(noteFile, JSON.stringify({ inputs, outputs, hash: hashOf(inputs) }));
}

/** Whether all bundles are there and were made of the present sources and packages. */
export function isBuilt(): boolean {
  if (!existsSync(noteFile)) return false;
  try {
    const { inputs, outputs, hash } = noteSchema.parse(JSON.parse(readFileSync(noteFile, "utf8")));
    return outputs.every((file) => existsSync(join(projectRoot, file))) && hashOf(inputs) === hash;
  } catch {
    return false; // a file is gone, or the note is of another version
  }
}
