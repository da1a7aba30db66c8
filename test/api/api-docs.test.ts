import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { documentFile } from "../../scripts/build/client-types.ts";
import { openPage, testWithBrowser } from "../support/chromium.ts";
import { fetchOpenApi } from "../support/openapi.ts";
import { type Schema, SchemaChecker } from "../support/schema-checker.ts";
import { startApi, type TestApi } from "./support/api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});

describe("GET /openapi.json", () => {
  test("is docs/openapi.json, in which a review sees every endpoint and what it needs", async () => {
    const { json } = await api.request("/openapi.json");
    expect(json).toEqual(JSON.parse(readFileSync(documentFile, "utf8")));
    expect(json).toMatchObject({ openapi: "3.0.3", info: { version: "0.1.0" } });
  });

  test("each operation has a unique operationId, and each error response the Error schema", async () => {
    const { paths } = await fetchOpenApi(api.stack.apiUrl);
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    expect(new Set(operations.map((o) => o.operationId)).size).toBe(operations.length);
    for (const { operationId, responses } of operations) {
      for (const [status, { content }] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        expect([operationId, content?.["application/json"]?.schema]).toEqual([
          operationId,
          { $ref: "#/components/schemas/Error" },
        ]);
      }
    }
  });

  test("blockNumber is a number in receipts and in live-stats, and a string of digits everywhere else", async () => {
    const { components, paths } = await fetchOpenApi(api.stack.apiUrl);
    const { schemas } = components;
    const checker = new SchemaChecker(schemas);
    const typeOf = (schema: Schema): Schema["type"] => {
      const { type, allOf = [] } = checker.resolve(schema);
      return type ?? allOf.map(typeOf).find((known) => known !== undefined);
    };
    /** `place type` of each block number, by whether it is in a receipt. */
    const shown: Record<"receipts" | "others", string[]> = { receipts: [], others: [] };
    function visit(schema: Schema, at: string): void {
      const { properties = {}, items, additionalProperties, allOf = [], anyOf = [] } = schema;
      const isReceipt = ["ok", "success", "gasUsed"].some((field) => field in properties);
      for (const [name, part] of Object.entries(properties)) {
        if (/^block_?number$/i.test(name))
          shown[isReceipt ? "receipts" : "others"].push(`${at} ${typeOf(part)}`);
        visit(part, `${at}.${name}`);
      }
      for (const part of [items, additionalProperties, ...allOf, ...anyOf]) if (part) visit(part, at);
    }
    for (const [name, schema] of Object.entries(schemas)) visit(schema, name);
    for (const { operationId, responses } of Object.values(paths).flatMap((methods) =>
      Object.values(methods),
    ))
      for (const { content } of Object.values(responses))
        for (const { schema } of Object.values(content ?? {})) visit(schema, operationId);
    expect(shown.receipts).toEqual(
      expect.arrayContaining(["PurchaseReceipt integer", "SandboxPurchase integer"]),
    );
    expect(shown.receipts.filter((place) => !place.endsWith(" integer"))).toEqual([]);
    expect(shown.others).toEqual(expect.arrayContaining(["MarketListing string", "Trade string"]));
    expect(shown.others.filter((place) => !place.endsWith(" string"))).toEqual([
      "LiveStats.chainStatus integer",
    ]);
  });

  test("purchase responses document the Location header", async () => {
    const response = z.object({ headers: z.record(z.string(), z.unknown()).default({}) });
    const purchases = z.object({ post: z.object({ responses: z.record(z.string(), response) }) });
    const { paths } = z
      .object({ paths: z.object({ "/api/v1/policies": purchases }) })
      .parse((await api.request("/openapi.json")).json);
    const { responses } = paths["/api/v1/policies"].post;
    const located = Object.keys(responses).filter(
      (status) => "Location" in (responses[status]?.headers ?? {}),
    );
    expect(located).toEqual(["200", "201", "202", "503"]);
  });

  test("each protected operation names its credential header", async () => {
    const document = z
      .object({
        components: z.object({ securitySchemes: z.unknown() }),
        paths: z.record(
          z.string(),
          z.record(
            z.string(),
            z.object({ security: z.array(z.record(z.string(), z.unknown())).default([]) }),
          ),
        ),
      })
      .parse((await api.request("/openapi.json")).json);
    expect(document.components.securitySchemes).toMatchObject({
      apiKey: { in: "header", name: "x-api-key" },
      bearer: { type: "http", scheme: "bearer" },
      adminToken: { in: "header", name: "x-admin-token" },
    });
    const key = [{ apiKey: [] }, { bearer: [] }];
    const needs = [key, [{}, ...key], [{ adminToken: [] }]];
    for (const { security } of Object.values(document.paths).flatMap((methods) => Object.values(methods)))
      if (security.length > 0) expect(needs).toContainEqual(security);
  });

  test("each response documents its rate limit headers, and each operation its 429", async () => {
    const response = z.object({ headers: z.record(z.string(), z.unknown()).default({}) });
    const operation = z.object({
      security: z.array(z.record(z.string(), z.unknown())).optional(),
      responses: z.record(z.string(), response),
    });
    const { paths } = z
      .object({ paths: z.record(z.string(), z.record(z.string(), operation)) })
      .parse((await api.request("/openapi.json")).json);
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { security, responses }] of Object.entries(methods)) {
        const needsAdmin = security?.some((alternative) => "adminToken" in alternative) ?? false;
        const statuses = Object.keys(responses);
        const limited = statuses.filter(
          (status) => "x-ratelimit-limit" in (responses[status]?.headers ?? {}),
        );
        const expected = needsAdmin ? ["401", "429"] : statuses.filter((status) => status !== "413");
        expect(limited, `${method} ${path}`).toEqual(expected);
        expect(Object.keys(responses["429"]?.headers ?? {}), `${method} ${path}`).toContain("Retry-After");
        for (const status of ["400", "404", "429", "500", "502"].filter((one) => one in responses))
          expect(Object.keys(responses[status]?.headers ?? {}), `${method} ${path}`).toContain(
            "x-should-retry",
          );
      }
    }
  });
});

describe("GET /api-docs", () => {
  test("loads scripts only from this server, and its content security policy allows no other", async () => {
    const page = await api.request("/api-docs");
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'self'; script-src 'self';");
    expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\//);
  });

  test("the script is compressed, and a browser that has it gets 304", async () => {
    const url = `${api.stack.apiUrl}/api-docs/scalar.js`;
    const plain = await fetch(url, { headers: { "accept-encoding": "identity" } });
    const script = Buffer.from(await plain.arrayBuffer());
    expect(plain.headers.get("content-encoding")).toBeNull();
    const packed = await fetch(url, { headers: { "accept-encoding": "gzip" } });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    // fetch has already decompressed it
    expect(Buffer.from(await packed.arrayBuffer()).equals(script)).toBe(true);
    expect(() => gunzipSync(script)).toThrow();
    const again = await fetch(url, { headers: { "if-none-match": plain.headers.get("etag") ?? "" } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  testWithBrowser("renders the API in a real browser without requests to other hosts", async () => {
    const origin = api.stack.apiUrl;
    const { page, faults, requests } = await openPage(origin);
    await page.goto(`${origin}/api-docs`);
    await page.getByText("/api/v1/policies/by-buyer/{address}").first().waitFor();
    expect(await page.title()).toContain("Parametric Cover Service");
    expect(requests().sort()).toEqual([
      `${origin}/api-docs`,
      `${origin}/api-docs/scalar.js`,
      `${origin}/api-docs/start.js`,
      `${origin}/favicon.svg`,
      `${origin}/openapi.json`,
    ]);
    expect(faults(/^console (info|warning):/)).toEqual([]); // Scalar says how long it takes, and what it expects
  });
});

describe("GET /", () => {
  const get = (path: string, accept: string) =>
    fetch(`${api.stack.apiUrl}${path}`, { headers: { accept }, redirect: "manual" });

  test("returns links as JSON unless the client prefers HTML", async () => {
    for (const accept of ["*/*", "application/json"]) {
      const response = await get("/", accept);
      expect(await response.json()).toMatchObject({
        service: "parametric-cover-service",
        explorer: "/api-docs",
        openapi: "/openapi.json",
        health: "/health",
        docs: expect.arrayContaining(["/docs/buying.md", "/docs/operating.md"]),
      });
    }
  });

  test("/docs redirects to the explorer, and an unknown document is 404", async () => {
    for (const path of ["/docs", "/docs/"]) {
      const response = await get(path, "text/html");
      expect([path, response.status, response.headers.get("location")]).toEqual([path, 308, "/api-docs"]);
    }
    for (const name of ["nothing.md", "..%2Fpackage.json", "%2e%2e%2fREADME.md"]) {
      expect((await get(`/docs/${name}`, "*/*")).status).toBe(404);
    }
  });
});
