import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { fetchOpenApi } from "../support/openapi.ts";
import { startApi, type TestApi } from "./support/api.ts";
import { testWithBrowser, visit } from "./support/browser.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});

describe("GET /openapi.json", () => {
  test("describes every endpoint in version 3.0.3, as version 0.1.0 of the API", async () => {
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
      "GET /api/v1/agent/delegations",
      "GET /api/v1/agent/keys",
      "GET /api/v1/auth/me",
      "GET /api/v1/bonds/by-owner/{address}",
      "GET /api/v1/burns/recent",
      "GET /api/v1/faucet/status",
      "GET /api/v1/indexer/health",
      "GET /api/v1/marketplace/active-listings",
      "GET /api/v1/marketplace/recent-sales",
      "GET /api/v1/policies",
      "GET /api/v1/policies/by-buyer/{address}",
      "GET /api/v1/public/bonds/{wallet}",
      "GET /api/v1/public/policies/{wallet}",
      "GET /api/v1/purchases/{id}",
      "GET /api/v1/stats/activity",
      "GET /api/v1/stats/burns",
      "GET /api/v1/stats/protocol",
      "GET /api/v1/stats/token-price-history",
      "GET /api/v1/triggers/recent",
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
      "GET /sandbox/transactions/{txHash}",
      "POST /api/v1/agent/delegations",
      "POST /api/v1/agent/onboard",
      "POST /api/v1/faucet/claim",
      "POST /api/v1/keys/generate",
      "POST /api/v1/policies",
      "POST /api/v1/webhooks",
      "POST /api/v1/webhooks/{id}/deliveries/{deliveryId}/replay",
      "POST /api/v1/webhooks/{id}/replay",
      "POST /api/v1/webhooks/{id}/retry",
      "POST /api/v1/webhooks/{id}/rotate-secret",
      "POST /api/v1/webhooks/{id}/test",
      "POST /sandbox/try",
    ]);
  });

  test("gives each operation a name of its own, and each failure the one envelope", async () => {
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

  test("tells that a purchase which is on its way is answered with its address", async () => {
    const response = z.object({ headers: z.record(z.string(), z.unknown()).default({}) });
    const purchases = z.object({ post: z.object({ responses: z.record(z.string(), response) }) });
    const { paths } = z
      .object({ paths: z.object({ "/api/v1/policies": purchases }) })
      .parse((await api.request("/openapi.json")).json);
    const { responses } = paths["/api/v1/policies"].post;
    const telling = Object.keys(responses).filter(
      (status) => "Location" in (responses[status]?.headers ?? {}),
    );
    expect(telling).toEqual(["200", "201", "202", "503"]);
  });

  test("names the header in which each protected operation takes its credential", async () => {
    const document = z
      .object({
        components: z.object({ securitySchemes: z.unknown() }),
        paths: z.record(z.string(), z.record(z.string(), z.object({ security: z.unknown().optional() }))),
      })
      .parse((await api.request("/openapi.json")).json);
    expect(document.components.securitySchemes).toMatchObject({
      apiKey: { in: "header", name: "x-api-key" },
      adminToken: { in: "header", name: "x-admin-token" },
    });
    const secured = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { security }]) => (security ? [`${method} ${path}`] : [])),
    );
    expect(secured.sort()).toEqual([
      "delete /api/v1/agent/delegations/{id}",
      "delete /api/v1/agent/keys/{keyId}",
      "delete /api/v1/keys/{id}",
      "delete /api/v1/webhooks/{id}",
      "get /api/v1/agent/delegations",
      "get /api/v1/agent/keys",
      "get /api/v1/auth/me",
      "get /api/v1/policies",
      "get /api/v1/purchases/{id}",
      "get /api/v1/webhooks",
      "get /api/v1/webhooks/{id}",
      "get /api/v1/webhooks/{id}/deliveries",
      "post /api/v1/agent/delegations",
      "post /api/v1/keys/generate",
      "post /api/v1/policies",
      "post /api/v1/webhooks",
      "post /api/v1/webhooks/{id}/deliveries/{deliveryId}/replay",
      "post /api/v1/webhooks/{id}/replay",
      "post /api/v1/webhooks/{id}/retry",
      "post /api/v1/webhooks/{id}/rotate-secret",
      "post /api/v1/webhooks/{id}/test",
    ]);
  });

  test("tells for each answer whether it carries a limit, and that any operation can be 429", async () => {
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
        const isAdmins = security?.some((alternative) => "adminToken" in alternative) ?? false;
        const statuses = Object.keys(responses);
        const limited = statuses.filter(
          (status) => "x-ratelimit-limit" in (responses[status]?.headers ?? {}),
        );
        const expected = isAdmins ? ["401", "429"] : statuses.filter((status) => status !== "413");
        expect(limited, `${method} ${path}`).toEqual(expected);
        expect(Object.keys(responses["429"]?.headers ?? {}), `${method} ${path}`).toContain("Retry-After");
      }
    }
  });
});

describe("GET /api-docs", () => {
  test("is a page whose scripts come from this server, under a policy that allows no other", async () => {
    const page = await api.request("/api-docs");
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'self'; script-src 'self';");
    expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\//);
  });

  test("its script is sent compressed, and only once to a browser that has it", async () => {
    const url = `${api.stack.apiUrl}/api-docs/scalar.js`;
    const plain = await fetch(url, { headers: { "accept-encoding": "identity" } });
    const script = Buffer.from(await plain.arrayBuffer());
    expect(plain.headers.get("content-encoding")).toBeNull();
    const packed = await fetch(url, { headers: { "accept-encoding": "gzip" } });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    // fetch has unpacked it already
    expect(Buffer.from(await packed.arrayBuffer()).equals(script)).toBe(true);
    expect(() => gunzipSync(script)).toThrow();
    const again = await fetch(url, { headers: { "if-none-match": plain.headers.get("etag") ?? "" } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  testWithBrowser("shows the API in a real browser, and asks no other host for anything", async () => {
    const { dom, console, requests } = await visit(`${api.stack.apiUrl}/api-docs`);
    expect(dom).toContain("Parametric Cover Service");
    expect(dom).toContain("/api/v1/policies/by-buyer/{address}");
    const origin = api.stack.apiUrl;
    expect([...requests].sort()).toEqual([
      `${origin}/api-docs/scalar.js`,
      `${origin}/api-docs/start.js`,
      `${origin}/openapi.json`,
    ]);
    expect(console).not.toMatch(/refused|blocked|content security policy|uncaught/i);
  });
});
