/** The documents of `docs/`, and the icon. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../lib/project-root.ts";
import type { Api } from "../http/env.ts";

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#2456c7" d="M16 2 4 7v8c0 7 5 12.5 12 15 7-2.5 12-8 12-15V7z"/><path fill="none" stroke="#fff" stroke-width="2.5" d="m9 12 5 5 3-3 6 7"/></svg>\n`;

/** The documents by file name. None where the folder is missing. */
function readDocuments(): ReadonlyMap<string, Uint8Array<ArrayBuffer>> {
  const folder = join(projectRoot, "docs");
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  const names = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map(({ name }) => name);
  // Bytes of all answers, without a copy for each.
  return new Map(names.sort().map((name) => [name, new Uint8Array(readFileSync(join(folder, name)))]));
}

/** Adds the documents and the icon. @returns the documents' addresses */
export function addDocumentRoutes(app: Api): string[] {
  const documents = readDocuments();

  for (const path of ["/favicon.svg", "/favicon.ico"]) {
    app.get(path, (c) =>
      c.body(icon, 200, { "Content-Type": "image/svg+xml", "Cache-Control": "public, max-age=86400" }),
    );
  }

  app.get("/docs/:name", (c) => {
    const document = documents.get(c.req.param("name"));
    if (!document) return c.notFound();
    return c.body(document, 200, { "Content-Type": "text/plain; charset=utf-8" });
  });
  return [...documents.keys()].map((name) => `/docs/${name}`);
}
