import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openPage, testWithBrowser } from "../support/chromium.ts";
import { fetchOpenApi } from "../support/openapi.ts";
import { type Schema, SchemaChecker } from "../support/schema-checker.ts";
import { startApi, type TestApi } from "./support/api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});

describe("GET /openapi.json", () => {
  test("describes every endpoint, in OpenAPI 3.0.3, for API version 0.1.0", async () => {
    const { openapi, info, paths } = await fetchOpenApi(api.stack.apiUrl);
    expect([openapi, info.version]).toEqual(["3.0.3", "0.1.0"]);
    const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(endpoints.sort()).toEqual([
      "DELETE /api/v1/agent/delegations/{id}",
      "DELETE /api/v1/agent/keys/{keyId}",
      "DELETE /api/v1/keys/{id}",
      "DELETE /api/v1/webhooks/{id}",
      "GET /api-docs",
      "GET /api/v1/admin/keys",
      "GET /api/v1/admin/ledger",
      "GET /api/v1/admin/stops",
      "GET /api/v1/admin/webhooks",
      "GET /api/v1/agent/delegations",
      "GET /api/v1/agent/keys",
      "GET /api/v1/auth/me",
      "GET /api/v1/bonds/by-owner/{address}",
      "GET /api/v1/bonds/{wallet}",
      "GET /api/v1/burns/recent",
      "GET /api/v1/faucet/status",
      "GET /api/v1/indexer/health",
      "GET /api/v1/live-stats",
      "GET /api/v1/marketplace/active-listings",
      "GET /api/v1/marketplace/history",
      "GET /api/v1/marketplace/listings",
      "GET /api/v1/marketplace/listings/{listingId}",
      "GET /api/v1/marketplace/recent-sales",
      "GET /api/v1/marketplace/stats",
      "GET /api/v1/oracle/signer",
      "GET /api/v1/policies",
      "GET /api/v1/policies/all",
      "GET /api/v1/policies/by-buyer/{address}",
      "GET /api/v1/policies/nearest",
      "GET /api/v1/policies/{productId}/{policyId}",
      "GET /api/v1/products",
      "GET /api/v1/products/{productId}",
      "GET /api/v1/products/{productId}/quote",
      "GET /api/v1/public/bonds/{wallet}",
      "GET /api/v1/public/policies/{wallet}",
      "GET /api/v1/purchases/{id}",
      "GET /api/v1/reports/{id}",
      "GET /api/v1/stats/activity",
      "GET /api/v1/stats/bonds/maturities",
      "GET /api/v1/stats/burners",
      "GET /api/v1/stats/burns",
      "GET /api/v1/stats/buyers",
      "GET /api/v1/stats/claims",
      "GET /api/v1/stats/cover",
      "GET /api/v1/stats/holders",
      "GET /api/v1/stats/keeper",
      "GET /api/v1/stats/market",
      "GET /api/v1/stats/pauses",
      "GET /api/v1/stats/price-history",
      "GET /api/v1/stats/prices",
      "GET /api/v1/stats/products",
      "GET /api/v1/stats/protocol",
      "GET /api/v1/stats/queue",
      "GET /api/v1/stats/series",
      "GET /api/v1/stats/token-price-history",
      "GET /api/v1/stats/vault",
      "GET /api/v1/triggers/due",
      "GET /api/v1/triggers/recent",
      "GET /api/v1/triggers/{productId}/{policyId}",
      "GET /api/v1/webhooks",
      "GET /api/v1/webhooks/{id}",
      "GET /api/v1/webhooks/{id}/deliveries",
      "GET /health",
      "GET /openapi.json",
      "GET /policies/{productId}/{policyId}",
      "GET /products",
      "GET /products/{productId}",
      "GET /products/{productId}/quote",
      "GET /sandbox/info",
      "GET /sandbox/policies/{productId}/{policyId}",
      "GET /sandbox/transactions/{txHash}",
      "POST /api/v1/admin/stops",
      "POST /api/v1/agent/delegations",
      "POST /api/v1/agent/onboard",
      "POST /api/v1/faucet/claim",
      "POST /api/v1/keys/generate",
      "POST /api/v1/marketplace/buy",
      "POST /api/v1/marketplace/buy/prepare",
      "POST /api/v1/marketplace/cancel/prepare",
      "POST /api/v1/marketplace/list",
      "POST /api/v1/marketplace/list/prepare",
      "POST /api/v1/oracle/sign-proof",
      "POST /api/v1/policies",
      "POST /api/v1/policies/prepare",
      "POST /api/v1/redeem",
      "POST /api/v1/redeem/prepare",
      "POST /api/v1/triggers/prepare",
      "POST /api/v1/webhooks",
      "POST /api/v1/webhooks/{id}/deliveries/{deliveryId}/replay",
      "POST /api/v1/webhooks/{id}/replay",
      "POST /api/v1/webhooks/{id}/retry",
      "POST /api/v1/webhooks/{id}/rotate-secret",
      "POST /api/v1/webhooks/{id}/test",
      "POST /sandbox/try",
    ]);
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
      adminToken: { in: "header", name: "x-admin-token" },
    });
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]) => ({ name: `${method} ${path}`, security })),
    );
    const withKey = operations.filter(({ security }) => security.length > 0);
    const isOptional = ({ security }: (typeof operations)[number]) =>
      security.some((alternative) => Object.keys(alternative).length === 0);
    const optional = withKey.filter(isOptional);
    expect(optional.map(({ security }) => security)).toEqual(optional.map(() => [{}, { apiKey: [] }]));
    expect(optional.map(({ name }) => name).sort()).toEqual([
      "get /api/v1/bonds/by-owner/{address}",
      "get /api/v1/burns/recent",
      "get /api/v1/live-stats",
      "get /api/v1/marketplace/active-listings",
      "get /api/v1/marketplace/history",
      "get /api/v1/marketplace/listings",
      "get /api/v1/marketplace/listings/{listingId}",
      "get /api/v1/marketplace/recent-sales",
      "get /api/v1/marketplace/stats",
      "get /api/v1/policies/all",
      "get /api/v1/policies/by-buyer/{address}",
      "get /api/v1/policies/nearest",
      "get /api/v1/policies/{productId}/{policyId}",
      "get /api/v1/stats/activity",
      "get /api/v1/stats/bonds/maturities",
      "get /api/v1/stats/burners",
      "get /api/v1/stats/burns",
      "get /api/v1/stats/buyers",
      "get /api/v1/stats/claims",
      "get /api/v1/stats/cover",
      "get /api/v1/stats/holders",
      "get /api/v1/stats/keeper",
      "get /api/v1/stats/market",
      "get /api/v1/stats/pauses",
      "get /api/v1/stats/price-history",
      "get /api/v1/stats/prices",
      "get /api/v1/stats/products",
      "get /api/v1/stats/protocol",
      "get /api/v1/stats/queue",
      "get /api/v1/stats/series",
      "get /api/v1/stats/token-price-history",
      "get /api/v1/stats/vault",
      "get /api/v1/triggers/due",
      "get /api/v1/triggers/recent",
      "get /api/v1/triggers/{productId}/{policyId}",
      "get /policies/{productId}/{policyId}",
      "post /api/v1/marketplace/buy/prepare",
      "post /api/v1/marketplace/cancel/prepare",
      "post /api/v1/marketplace/list/prepare",
      "post /api/v1/policies/prepare",
      "post /api/v1/redeem/prepare",
      "post /api/v1/triggers/prepare",
    ]);
    const secured = withKey.filter((operation) => !isOptional(operation)).map(({ name }) => name);
    expect(secured.sort()).toEqual([
      "delete /api/v1/agent/delegations/{id}",
      "delete /api/v1/agent/keys/{keyId}",
      "delete /api/v1/keys/{id}",
      "delete /api/v1/webhooks/{id}",
      "get /api/v1/admin/keys",
      "get /api/v1/admin/ledger",
      "get /api/v1/admin/stops",
      "get /api/v1/admin/webhooks",
      "get /api/v1/agent/delegations",
      "get /api/v1/agent/keys",
      "get /api/v1/auth/me",
      "get /api/v1/bonds/{wallet}",
      "get /api/v1/oracle/signer",
      "get /api/v1/policies",
      "get /api/v1/purchases/{id}",
      "get /api/v1/reports/{id}",
      "get /api/v1/webhooks",
      "get /api/v1/webhooks/{id}",
      "get /api/v1/webhooks/{id}/deliveries",
      "post /api/v1/admin/stops",
      "post /api/v1/agent/delegations",
      "post /api/v1/keys/generate",
      "post /api/v1/marketplace/buy",
      "post /api/v1/marketplace/list",
      "post /api/v1/oracle/sign-proof",
      "post /api/v1/policies",
      "post /api/v1/redeem",
      "post /api/v1/webhooks",
      "post /api/v1/webhooks/{id}/deliveries/{deliveryId}/replay",
      "post /api/v1/webhooks/{id}/replay",
      "post /api/v1/webhooks/{id}/retry",
      "post /api/v1/webhooks/{id}/rotate-secret",
      "post /api/v1/webhooks/{id}/test",
    ]);
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

  test("/docs and /api-docs/ redirect to the explorer, and an unknown document is 404", async () => {
    for (const path of ["/docs", "/docs/", "/api-docs/"]) {
      const response = await get(path, "text/html");
      expect([path, response.status, response.headers.get("location")]).toEqual([path, 308, "/api-docs"]);
    }
    for (const name of ["nothing.md", "..%2Fpackage.json", "%2e%2e%2fREADME.md"]) {
      expect((await get(`/docs/${name}`, "*/*")).status).toBe(404);
    }
  });
});
