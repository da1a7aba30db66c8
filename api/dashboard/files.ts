/** The dashboard's files, as `npm run build` left them: read once, and sent from memory. */
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { z } from "zod";
import { projectRoot } from "../../lib/project-root.ts";

const manifestShape = z.object({
  pages: z.array(z.object({ path: z.string(), withDetail: z.boolean(), file: z.string(), hash: z.string() })),
  assets: z.array(z.string()),
});

/** The bytes of a file in each encoding: shared by all answers, without a copy for each. */
export type Served = {
  readonly type: string;
  readonly bytes: Readonly<Record<"identity" | "gzip" | "br", Uint8Array<ArrayBuffer>>>;
};

/** A page's HTML. `withDetail`: addresses with one more part show it too, as a wallet's does. */
export type PageFile = Served & {
  readonly path: string;
  readonly withDetail: boolean;
  readonly etag: string;
};

export type DashboardFiles = {
  readonly pages: readonly PageFile[];
  /** Hashed files by their name. */
  readonly assets: ReadonlyMap<string, Served>;
};

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

const folder = join(projectRoot, "dist", "dashboard");

function readServed(file: string): Served {
  const read = (ending: string) => new Uint8Array(readFileSync(join(folder, `${file}${ending}`)));
  return {
    type: types[extname(file)] ?? "application/octet-stream",
    bytes: { identity: read(""), gzip: read(".gz"), br: read(".br") },
  };
}

/** Reads the dashboard's files; there are none where it was not built. */
export function readDashboard(): DashboardFiles {
  const manifestFile = join(folder, "manifest.json");
  if (!existsSync(manifestFile)) return { pages: [], assets: new Map() };
  const { pages, assets } = manifestShape.parse(JSON.parse(readFileSync(manifestFile, "utf8")));
  return {
    pages: pages.map(({ path, withDetail, file, hash }) => ({
      ...readServed(file),
      path,
      withDetail,
      etag: `"${hash}"`,
    })),
    assets: new Map(assets.map((file) => [file.replace(/^assets\//, ""), readServed(file)])),
  };
}
