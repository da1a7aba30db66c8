/**
 * Builds the package's export `parametric-cover-service/client` into `dist/client/`: a module for browsers and Node, and its types.
 * The folder is a package too, which other projects install: it has the receiver of webhooks beside the client, and no dependencies.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { build, type Metafile } from "esbuild";
import { z } from "zod";
import { projectRoot } from "../lib/project-root.ts";
import { replaceFiles } from "./build/replace-files.ts";

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

const packageSchema = z.object({
  name: z.string(),
  version: z.string(),
  license: z.string(),
});

/** The manifest of the client's package: what is read of the repository's, and the exports at their places here. */
function manifest(): string {
  const own = packageSchema.parse(JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")));
  const engines = { node: ">=20.19" };
  const exports = {
    "./client": { types: "./index.d.ts", default: "./index.js" },
    "./webhooks": { types: "./webhooks.d.mts", default: "./webhooks.mjs" },
  };
  const description = "Client of the Parametric Cover Service, and the receiver of its webhooks";
  return `${JSON.stringify({ ...own, engines, private: true, description, type: "module", exports }, null, 2)}\n`;
}

/** Writes module, receiver and manifest, each by a rename, so that nobody reads half of one. @returns what the module was made of */
export async function buildClient(outDir = target): Promise<Metafile> {
  const { code, metafile } = await bundleClient(false);
  const receiver = (name: string) => readFileSync(join(projectRoot, "lib", "webhooks", name));
  const files = {
    "index.js": code,
    "webhooks.mjs": receiver("receiver.mjs"),
    "webhooks.d.mts": receiver("receiver.d.mts"),
    "package.json": manifest(),
  };
  const written = Object.entries(files).map(([name, contents]) => ({ path: join(outDir, name), contents }));
  replaceFiles(outDir, written);
  return metafile;
}

/** Writes the declarations of all of the client's files. @throws with the compiler's errors */
export async function emitClientTypes(outDir = target): Promise<void> {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const args = [tsc, "--project", "client", "--outDir", outDir];
  await promisify(execFile)(process.execPath, args, { cwd: projectRoot });
}
