/** The front page, its icon, and the documents of `docs/`. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { accepts } from "hono/accepts";
import { html, raw } from "hono/html";
import { projectRoot } from "../../lib/project-root.ts";
import { API_VERSION } from "../http/api-version.ts";
import type { Api } from "../http/env.ts";

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#2456c7" d="M16 2 4 7v8c0 7 5 12.5 12 15 7-2.5 12-8 12-15V7z"/><path fill="none" stroke="#fff" stroke-width="2.5" d="m9 12 5 5 3-3 6 7"/></svg>\n`;

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 40rem; margin: 4rem auto; padding: 0 1rem; }
li { margin: .5rem 0; }
`;

/** Everything is served by this API, and nothing but the page's own style is allowed. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

type Link = { readonly path: string; readonly title: string };

const pageOf = (links: readonly Link[]) => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Parametric Cover Service</title>
    <link rel="icon" href="/favicon.svg">
    <style>${raw(style)}</style>
  </head>
  <body>
    <h1>Parametric Cover Service</h1>
    <p>Cover against a fall of BTC or ETH within 1, 24 or 48 hours, bought with one HTTP call.</p>
    <ul>
${links.map(
  ({ path, title }) => html`      <li><a href="${path}">${title}</a></li>
`,
)}
    </ul>
  </body>
</html>
`;

/** The documents of `docs/`, by file name. None where the folder is missing. */
function readDocuments(): ReadonlyMap<string, { bytes: Uint8Array<ArrayBuffer>; title: string }> {
  const folder = join(projectRoot, "docs");
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  const names = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map(({ name }) => name);
  return new Map(
    names.sort().map((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      const bytes = new TextEncoder().encode(text); // of all answers, without a copy for each
      return [name, { bytes, title: /^# (.+)$/m.exec(text)?.[1] ?? name }];
    }),
  );
}

/** Answers `GET /`: a page for browsers, JSON for others. */
export function addFrontPage(app: Api): void {
  const documents = readDocuments();
  const links: readonly Link[] = [
    { path: "/api-docs", title: "API explorer" },
    { path: "/health", title: "Health and contract addresses" },
    ...[...documents].map(([name, { title }]) => ({ path: `/docs/${name}`, title })),
  ];
  const page = pageOf(links);
  const body = {
    service: "parametric-cover-service",
    version: API_VERSION,
    explorer: "/api-docs",
    openapi: "/openapi.json",
    health: "/health",
    docs: [...documents.keys()].map((name) => `/docs/${name}`),
  };

  app.get("/", (c) => {
    c.header("Vary", "Accept");
    const type = accepts(c, {
      header: "Accept",
      supports: ["application/json", "text/html"],
      default: "application/json",
    });
    if (type !== "text/html") return c.json(body);
    c.header("Content-Security-Policy", CONTENT_SECURITY_POLICY);
    return c.html(page);
  });

  for (const path of ["/favicon.svg", "/favicon.ico"]) {
    app.get(path, (c) =>
      c.body(icon, 200, { "Content-Type": "image/svg+xml", "Cache-Control": "public, max-age=86400" }),
    );
  }

  app.get("/docs/:name", (c) => {
    const document = documents.get(c.req.param("name"));
    if (!document) return c.notFound();
    return c.body(document.bytes, 200, { "Content-Type": "text/plain; charset=utf-8" });
  });
}
