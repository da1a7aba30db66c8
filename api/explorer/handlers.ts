/** The OpenAPI document, and the explorer, whose page loads nothing from other hosts. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { accepts } from "hono/accepts";
import { projectRoot } from "../../lib/project-root.ts";
import type { Api } from "../http/env.ts";
import { onInvalid } from "../http/errors.ts";
import { noQuery } from "../http/route.ts";
import { openApiDocument } from "./document.ts";
import { explorerRoute, openApiRoute } from "./routes.ts";

/** Scalar sets inline styles; scripts come from this server only. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Settings that keep Scalar from calling other hosts: no hosted fonts, telemetry, assistant or client. */
const settings = {
  url: "/openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
};

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Parametric Cover Service: API</title>
    <link rel="icon" href="/favicon.svg">
  </head>
  <body>
    <div id="app"></div>
    <script src="/api-docs/scalar.js"></script>
    <script src="/api-docs/start.js"></script>
  </body>
</html>
`;
const starter = `Scalar.createApiReference("#app", ${JSON.stringify(settings)});\n`;

/** The bytes are shared by all answers: a client that takes none of its answers costs no copy of them. */
type Asset = { plain: Uint8Array<ArrayBuffer>; gzipped: Uint8Array<ArrayBuffer>; etag: string };

const compress = promisify(gzip);

async function loadScalar(): Promise<Asset> {
  const plain = await readFile(join(projectRoot, "dist", "scalar.js"));
  const etag = `"${createHash("sha256").update(plain).digest("hex").slice(0, 32)}"`;
  return { plain: new Uint8Array(plain), gzipped: new Uint8Array(await compress(plain)), etag };
}

type ExplorerParts = {
  /** Public URL of the API without a trailing slash; undefined takes the request's origin. */
  readonly publicUrl: string | undefined;
};

/** Adds document and explorer. To be called last: the document contains the routes added before. */
export function addExplorerRoutes(app: Api, { publicUrl }: ExplorerParts): void {
  let scalar: Promise<Asset> | undefined;

  app.openapi(explorerRoute, (c) => {
    c.header("Content-Security-Policy", CONTENT_SECURITY_POLICY);
    return c.html(page);
  });

  app.get("/docs", (c) => c.redirect("/api-docs", 308));

  app.get("/api-docs/start.js", (c) =>
    c.body(starter, 200, { "Content-Type": "text/javascript; charset=utf-8" }),
  );

  app.get("/api-docs/scalar.js", async (c) => {
    scalar ??= loadScalar();
    const { plain, gzipped, etag } = await scalar;
    c.header("ETag", etag);
    c.header("Cache-Control", "public, max-age=3600");
    c.header("Vary", "Accept-Encoding");
    if (c.req.header("if-none-match") === etag) return c.body(null, 304);
    const encoding = accepts(c, { header: "Accept-Encoding", supports: ["gzip"], default: "identity" });
    c.header("Content-Type", "text/javascript; charset=utf-8");
    if (encoding !== "gzip") return c.body(plain);
    c.header("Content-Encoding", "gzip");
    return c.body(gzipped);
  });

  app.openAPIRegistry.registerPath(openApiRoute);
  let document: string | undefined;
  let served: { url: string; bytes: Uint8Array<ArrayBuffer> } | undefined;
  app.get(openApiRoute.path, (c) => {
    const { error } = noQuery.safeParse(c.req.query());
    if (error) onInvalid({ target: "query", success: false, error }, c);
    // Made for the first reader, because it takes a sixth of a start, and once: the routes no longer change.
    document ??= openApiDocument(app);
    // Absolute: generated clients put paths after it as they are.
    const url = publicUrl ?? new URL(c.req.url).origin;
    if (served?.url !== url) {
      const text = `{"servers":${JSON.stringify([{ url }])},${document.slice(1)}`;
      served = { url, bytes: new TextEncoder().encode(text) };
    }
    return c.body(served.bytes, 200, { "Content-Type": "application/json" });
  });
}
