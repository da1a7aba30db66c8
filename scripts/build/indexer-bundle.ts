/**
 * The indexer's bundle: launcher, Ponder, and the configuration, tables and projections of one folder. Ponder would load its
 * thousand modules and compile the folder with Vite at each start, which takes longer than all the rest.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { BuildOptions, Plugin } from "esbuild";
import { z } from "zod";
import { projectRoot } from "../../lib/project-root.ts";
import { buildHash, ponderManifest } from "../indexer/schema-name.ts";
import { patchesHash } from "../patches.mjs";

/** Ponder's compiled modules. */
const ponder = join(dirname(ponderManifest), "dist", "esm");
/** Our replacement for what Ponder compiles with. */
const bundler = join(projectRoot, "scripts", "indexer", "bundled-sources.ts");
const bundlerPackages = [
  "vite",
  "vite-node/client",
  "vite-node/server",
  "vite-node/source-map",
  "vite-node/utils",
  "vite-tsconfig-paths",
];

const ponderPlugin = z.object({
  vitePluginPonder: z.custom<(options: { schemaFile: string }) => { load: (id: string) => string | null }>(
    (value) => typeof value === "function",
  ),
});

/** The files of a folder that Ponder executes: paths from the folder. */
function executedFiles(root: string): string[] {
  const sources = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  return ["ponder.config.ts", "ponder.schema.ts", ...sources];
}

const quoted = (text: string) => JSON.stringify(text);

/**
 * An import of the tables and views in the order of their declarations, in which Ponder creates them: a view may read another. A
 * module names its exports in the order of the alphabet.
 */
function importSchema(path: string): string {
  const names = [...readFileSync(path, "utf8").matchAll(/^export const (\w+)/gm)].map(([, name]) => name);
  const entries = names.map((name) => `${name}: all.${name}`);
  return `import(${quoted(path)}).then((all) => ({ ${entries.join(", ")} }))`;
}

/** The installed Ponder's version. */
export const { version: ponderVersion } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(ponderManifest, "utf8")));

/** The module of which `bundled-sources.ts` takes what Ponder executes. */
function sourcesModule(root: string): string {
  const imports = executedFiles(root).map((file) => {
    const path = join(root, file);
    return [file, file === "ponder.schema.ts" ? importSchema(path) : `import(${quoted(path)})`] as const;
  });
  const registry = ["ponder:registry", 'import("ponder:registry")'] as const;
  return [
    `export const ponderVersion = ${quoted(ponderVersion)};`,
    `export const builtFrom = ${quoted(buildHash(root, ponderVersion))};`,
    `export const patches = ${quoted(patchesHash("ponder"))};`,
    "export const sources = {",
    ...[...imports, registry].map(([id, source]) => `${quoted(id)}: () => ${source},`),
    "};",
  ].join("\n");
}

/** Resolves Ponder's `ponder:registry`, `ponder:schema` and `ponder:api`, with Ponder's own text, and our `indexer:sources`. */
const virtualModules = (root: string): Plugin => ({
  name: "modules of the indexer",
  async setup({ onResolve, onLoad }) {
    const { vitePluginPonder } = ponderPlugin.parse(await import(join(ponder, "build", "plugin.js")));
    const { load } = vitePluginPonder({ schemaFile: join(root, "ponder.schema.ts") });
    onResolve({ filter: /^(ponder|indexer):/ }, ({ path }) => ({ path, namespace: "indexer" }));
    onLoad({ filter: /.*/, namespace: "indexer" }, ({ path }) => ({
      contents: path === "indexer:sources" ? sourcesModule(root) : (load(path) ?? ""),
      loader: "js",
      resolveDir: root,
    }));
    // Ponder would write the types of these modules beside the sources at each start, and fail where it may not.
    onLoad({ filter: /[\\/]bin[\\/]utils[\\/]codegen\.js$/ }, () => ({
      contents: "export const runCodegen = () => {};",
      loader: "js",
    }));
  },
});

/** Options of esbuild for the indexer of `root`, beside those that all bundles share. */
export const indexerBundle = (root: string): BuildOptions => ({
  entryPoints: { indexer: join(projectRoot, "scripts", "indexer.ts") },
  alias: {
    // Its packages bring five copies, a quarter of the bundle's text.
    graphql: join(projectRoot, "node_modules", "graphql"),
    "ponder/start": join(ponder, "bin", "commands", "start.js"),
    ...Object.fromEntries(bundlerPackages.map((name) => [name, bundler])),
  },
  plugins: [virtualModules(root)],
});
