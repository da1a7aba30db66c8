/** Builds the package's export `parametric-cover-service/client` into `dist/client/`: a module for browsers and Node, and its types. */
import { execFile } from "node:child_process";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { build, type Metafile } from "esbuild";
import { projectRoot } from "../lib/project-root.ts";

const target = join(projectRoot, "dist", "client");

/** Bundles the client for a platform without Node. @throws when a source does not compile, or imports something of Node's */
export async function bundleClient(minify: boolean): Promise<{ code: Uint8Array; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: projectRoot,
    entryPoints: ["client/index.ts"],
    outfile: "dist/client/index.js",
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify,
    metafile: true,
    write: false,
  });
  return { code: outputFiles[0]?.contents ?? new Uint8Array(), metafile };
}

/** Writes the module. @returns what it was made of */
export async function buildClient(): Promise<Metafile> {
  const { code, metafile } = await bundleClient(false);
  mkdirSync(target, { recursive: true });
  const unfinished = join(target, `index.js.${process.pid}`);
  writeFileSync(unfinished, code);
  renameSync(unfinished, join(target, "index.js"));
  return metafile;
}

/** Writes the declarations of all of the client's files. @throws with the compiler's errors */
export async function emitClientTypes(outDir = target): Promise<void> {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const args = [tsc, "--project", "client", "--outDir", outDir];
  await promisify(execFile)(process.execPath, args, { cwd: projectRoot });
}
