/**
 * Bundles the dashboard into `dist/dashboard/`: hashed files, a module per page, each also compressed, and an HTML file per
 * page that names what the page needs. `manifest.json` lists them for the API, and is written last.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { pageList } from "../dashboard/page-list.ts";
import { projectRoot } from "../lib/project-root.ts";

const source = join(projectRoot, "dashboard");
const target = join(projectRoot, "dist", "dashboard");
const entry = "dashboard/main.tsx";

const compressors = { gz: promisify(gzip), br: promisify(brotliCompress) };

type Outputs = Metafile["outputs"];

/** The bundled file of a source. @throws when there is none */
function outputOf(outputs: Outputs, entryPoint: string): string {
  const found = Object.entries(outputs).find(([, output]) => output.entryPoint === entryPoint);
  if (!found) throw new Error(`the dashboard's bundle has no ${entryPoint}`);
  return found[0];
}

/** A bundled file and all that it imports before it runs. */
function withImports(outputs: Outputs, file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const { path, kind } of outputs[file]?.imports ?? [])
    if (kind === "import-statement") withImports(outputs, path, found);
  return found;
}

const addressOf = (file: string) => `/assets/${basename(file)}`;

/** The HTML of a page: its title, and links to everything that it loads at once. */
function htmlOf(outputs: Outputs, { name, title }: (typeof pageList)[number]): string {
  const main = outputOf(outputs, entry);
  const style = outputs[main]?.cssBundle;
  if (style === undefined) throw new Error("the dashboard's bundle has no style");
  const needed = [main, outputOf(outputs, `dashboard/pages/${name}/page.tsx`)].flatMap((file) => [
    ...withImports(outputs, file),
  ]);
  const head = [
    `<link rel="stylesheet" href="${addressOf(style)}">`,
    ...[...new Set(needed)].map((file) => `<link rel="modulepreload" href="${addressOf(file)}">`),
    `<script type="module" src="${addressOf(main)}"></script>`,
  ];
  const template = readFileSync(join(source, "index.html"), "utf8");
  return template.replace("{{title}}", title).replace("{{head}}", head.join("\n    "));
}

/** Writes a file under another name and renames it, so that a reader sees the old one or the new one. */
function put(path: string, contents: string | Uint8Array): void {
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, contents);
  renameSync(unfinished, path);
}

async function putCompressed(path: string, contents: Uint8Array): Promise<void> {
  put(path, contents);
  for (const [extension, compress] of Object.entries(compressors))
    put(`${path}.${extension}`, await compress(contents));
}

/** @returns what the bundles were made of. @throws when a source does not compile; esbuild prints the error */
export async function buildDashboard(): Promise<Metafile> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: projectRoot,
    entryPoints: [entry],
    outdir: join(target, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    legalComments: "none",
    metafile: true,
    write: false,
  });
  mkdirSync(join(target, "assets"), { recursive: true });
  await Promise.all(outputFiles.map(({ path, contents }) => putCompressed(path, contents)));
  const pages = await Promise.all(
    pageList.map(async (page) => {
      const html = Buffer.from(htmlOf(metafile.outputs, page));
      const hash = createHash("sha256").update(html).digest("hex").slice(0, 16);
      await putCompressed(join(target, `${page.name}.html`), html);
      return { path: page.path, withDetail: page.name === "wallet", file: `${page.name}.html`, hash };
    }),
  );
  const assets = outputFiles.map(({ path }) => relative(target, path));
  put(join(target, "manifest.json"), JSON.stringify({ pages, assets }));
  removeOthers(new Set(assets.map((file) => basename(file))));
  return metafile;
}

/** Removes the files of earlier builds: an API that runs has read its own into memory. */
function removeOthers(names: ReadonlySet<string>): void {
  for (const name of readdirSync(join(target, "assets")))
    if (!names.has(name.replace(/\.(gz|br)$/, ""))) rmSync(join(target, "assets", name), { force: true });
}
