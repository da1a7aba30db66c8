/**
 * `npm run build` bundles the three processes and the commands of the operator into `dist/`, each into one file with a source map,
 * the dashboard, the explorer's script, and the client. A bundle starts much faster than a thousand modules that are compiled and resolved at the start.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Metafile, type OutputFile, type Plugin } from "esbuild";
import { projectRoot } from "../lib/project-root.ts";
import { writeClientTypes } from "./build/client-types.ts";
import { indexerBundle } from "./build/indexer-bundle.ts";
import { noteInputs } from "./build/inputs.ts";
import { replaceFiles } from "./build/replace-files.ts";
import { buildClient, emitClientTypes } from "./build-client.ts";
import { buildDashboard } from "./build-dashboard.ts";
import { patchesHash, requirePatches } from "./patches.mjs";

const entryPoints = {
  api: "api/server.ts",
  writer: "workers/main.ts",
  ledger: "scripts/ledger.ts",
  keeper: "scripts/keeper.ts",
  backup: "scripts/backup.ts",
  restore: "scripts/restore.ts",
  doctor: "scripts/doctor.ts",
  mcp: "scripts/mcp.ts",
  prices: "scripts/prices.ts",
};

/** CommonJS packages in a bundle load Node's modules with `require`. */
export const requireForPackages =
  'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);';

/** Leaves Ponder's GraphQL server out, because the tables' definitions import Ponder, and a service would load both at its start. */
const withoutGraphql: Plugin = {
  name: "without GraphQL",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/graphql\/middleware\.js$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      sideEffects: false,
    }));
  },
};

const common: BuildOptions = {
  absWorkingDir: projectRoot,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  // Native modules that their packages do without, and the SQL parser of a Ponder API that we do not serve.
  external: ["pg-native", "bufferutil", "utf-8-validate", "msgpackr-extract", "pg-query-emscripten"],
  banner: { js: requireForPackages },
  sourcemap: "linked",
  sourcesContent: false,
};

type Bundled = { outputFiles: OutputFile[]; metafile: Metafile };

/** Bundles into `outdir`. @throws when a source does not compile; esbuild prints the error. */
const bundle = (outdir: string, options: BuildOptions): Promise<Bundled> =>
  build({ ...common, ...options, outdir, write: false, metafile: true });

/** Bundles the indexer of a folder, with the configuration, tables and projections that are there, into the folder's `dist/`. */
export async function buildIndexer(root: string): Promise<void> {
  const dist = join(root, "dist");
  replaceFiles(dist, (await bundle(dist, indexerBundle(root))).outputFiles);
}

/**
 * Bundles the processes and the operator's commands into `dist/`, the dashboard, and the client.
 * @throws when a package lacks one of our patches, or a source does not compile; esbuild prints the error.
 */
export async function buildServices(): Promise<void> {
  requirePatches();
  const dist = join(projectRoot, "dist");
  await writeClientTypes();
  const [dashboard, client, ...bundles] = await Promise.all([
    buildDashboard(),
    buildClient(),
    bundle(dist, { entryPoints, plugins: [withoutGraphql] }),
    bundle(dist, indexerBundle(projectRoot)),
  ]);
  const explorer = join(projectRoot, "node_modules/@scalar/api-reference/dist/browser/standalone.js");
  replaceFiles(dist, [
    ...bundles.flatMap(({ outputFiles }) => outputFiles),
    { path: join(dist, "scalar.js"), contents: readFileSync(explorer) },
    { path: join(dist, "patches.sha256"), contents: patchesHash() }, // `start.mjs` compares it
  ]);
  noteInputs([dashboard, client, ...bundles.map(({ metafile }) => metafile)]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildServices();
  // Only programs of others need them: `npm run dev` starts sooner without.
  if (process.argv.includes("--types")) await emitClientTypes();
}
