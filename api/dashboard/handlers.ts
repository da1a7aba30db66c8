/** Serves the dashboard at `/`. */
import type { Context } from "hono";
import { accepts } from "hono/accepts";
import type { Api } from "../http/env.ts";
import { type PageFile, readDashboard, type Served } from "./files.ts";
import type { ServiceLinks } from "./service-links.ts";

/** Own scripts, styles, icon and API, and nothing else: no inline code, no other host, no frame around it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A year: the name of a hashed file changes with its content. */
const IMMUTABLE = "public, max-age=31536000, immutable";

/** Sends a file in the encoding that the client prefers. */
function send(c: Context, { type, bytes }: Served) {
  const encoding = accepts(c, {
    header: "Accept-Encoding",
    supports: ["br", "gzip"],
    default: "identity",
  });
  const chosen = encoding === "br" || encoding === "gzip" ? encoding : "identity";
  c.header("Content-Type", type);
  if (chosen !== "identity") c.header("Content-Encoding", chosen);
  return c.body(bytes[chosen]);
}

function sendPage(c: Context, page: PageFile) {
  c.header("Content-Security-Policy", CONTENT_SECURITY_POLICY);
  c.header("Cache-Control", "no-cache");
  c.header("ETag", page.etag);
  if (c.req.header("if-none-match") === page.etag) return c.body(null, 304);
  return send(c, page);
}

const prefersHtml = (c: Context): boolean =>
  accepts(c, {
    header: "Accept",
    supports: ["application/json", "text/html"],
    default: "application/json",
  }) === "text/html";

/**
 * Adds the dashboard's pages and files. A client that does not prefer HTML gets `links` at `/`; so does everybody where the
 * dashboard was not built.
 */
export function addDashboardRoutes(app: Api, links: ServiceLinks): void {
  const { pages, assets } = readDashboard();
  const [front] = pages;

  app.get("/", (c) => {
    c.header("Vary", "Accept, Accept-Encoding");
    return front && prefersHtml(c) ? sendPage(c, front) : c.json(links);
  });

  for (const page of pages.slice(1)) {
    for (const path of page.withDetail ? [page.path, `${page.path}/:detail`] : [page.path]) {
      app.get(path, (c) => {
        c.header("Vary", "Accept-Encoding");
        return sendPage(c, page);
      });
    }
  }

  app.get("/assets/:name", (c) => {
    const file = assets.get(c.req.param("name"));
    if (!file) return c.notFound();
    c.header("Vary", "Accept-Encoding");
    c.header("Cache-Control", IMMUTABLE);
    return send(c, file);
  });
}
