/**
 * `npm run build` bundles the three processes and the commands of the operator into `dist/`, each into one file with a source map,
 * and the dashboard. A bundle starts much faster than a thousand modules that are compiled and resolved at the start.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { projectRoot } from "../lib/project-root.ts";
import { buildDashboard } from "./build-dashboard.ts";

const entryPoints = {
  api: "api/server.ts",
  writer: "workers/main.ts",
  indexer: "scripts/indexer.ts",
  ledger: "scripts/ledger.ts",
  keeper: "scripts/keeper.ts",
};

/** CommonJS packages in a bundle load Node's modules with `require`. */
const requireForPackages =
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

/**
 * Bundles api, writer, indexer, ledger and keeper into `dist/`, and the dashboard. Each file is replaced by a rename, so that a process that starts
 * meanwhile reads either the old bundle or the new one.
 * @throws when a source does not compile; esbuild prints the error.
 */
export async function buildServices(): Promise<void> {
  await Promise.all([buildProcesses(), buildDashboard()]);
}

async function buildProcesses(): Promise<void> {
  const dist = join(projectRoot, "dist");
  const { outputFiles } = await build({
    absWorkingDir: projectRoot,
    entryPoints,
    outdir: dist,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    // Native modules, loaded from `node_modules` where they are installed.
    external: ["pg-native", "bufferutil", "utf-8-validate", "msgpackr-extract", "secp256k1"],
    banner: { js: requireForPackages },
    plugins: [withoutGraphql],
    sourcemap: "linked",
    sourcesContent: false,
    write: false,
  });
  mkdirSync(dist, { recursive: true });
  const unfinished = mkdtempSync(join(dist, ".unfinished-"));
  try {
    for (const { path, contents } of outputFiles) {
      const file = join(unfinished, basename(path));
      writeFileSync(file, contents);
      renameSync(file, path);
    }
  } finally {
    rmSync(unfinished, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildServices();
