import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { build } from "esbuild";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { z } from "zod";
import { projectRoot } from "../../lib/project-root.ts";
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
    const servers = [{ url: api.stack.apiUrl }];
    expect(json).toEqual({ servers, ...JSON.parse(readFileSync(documentFile, "utf8")) });
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

  test("each part of an allOf has a type of its own, so that generators find one type for a field with a description", async () => {
    const faults: string[] = [];
    const visit = (value: unknown, at: string): void => {
      if (typeof value !== "object" || value === null) return;
      if ("allOf" in value)
        for (const part of Object.values(Object(value.allOf)))
          if (!("$ref" in Object(part) || "type" in Object(part))) faults.push(at);
      for (const [name, part] of Object.entries(value)) visit(part, `${at}/${name}`);
    };
    visit((await api.request("/openapi.json")).json, "");
    expect(faults).toEqual([]);
  });

  test.each([
    ["/api/v1/triggers/{productId}/{policyId}", "the list `rounds` as a table"],
    ["/api/v1/stats/vault", "the body as the only row of a table"],
  ])("the table of %s is documented as %s", async (path, rows) => {
    const { paths } = await fetchOpenApi(api.stack.apiUrl);
    const table = paths[path]?.get?.responses["200"]?.content?.["text/csv"]?.schema;
    expect(z.object({ description: z.string() }).parse(table).description).toContain(rows);
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

/** A program on a generated client, and one on generated types alone. */
const program = `
import { getHealth, getMe } from "./client";
import type { components, operations } from "./types";

export async function ask(apiKey: string) {
  const { data: health, response } = await getHealth();
  const { error } = await getMe({ auth: apiKey });
  const block: string | null | undefined = health?.chain.block;
  return { url: response?.url, block, code: error?.code };
}
export const open = ({ status, due, productId }: components["schemas"]["Policy"]): boolean | null =>
  status === "Active" && productId.length === 66 ? due : false;
export const amount: operations["buyPolicy"]["requestBody"]["content"]["application/json"]["coverageAmount"] = "1";
// @ts-expect-error an amount is a string
export const wrong: typeof amount = 1;
`;

describe("a client that is generated from /openapi.json", () => {
  /** Runs a package's program with the arguments. */
  const run = (file: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [join(projectRoot, "node_modules", file), ...args]).catch(
      ({ stdout, stderr }: { stdout: string; stderr: string }) => {
        throw new Error(`${file} failed:\n${stdout}${stderr}`);
      },
    );

  test("compiles under strict, and calls this host with the key in the header that the document names", async () => {
    const folder = mkdtempSync(join(inject("runFolder"), "generated-client-"));
    const document = `${api.stack.apiUrl}/openapi.json`;
    await run("@hey-api/openapi-ts/bin/run.js", "--input", document, "--output", join(folder, "client"));
    await run("openapi-typescript/bin/cli.js", document, "--output", join(folder, "types.ts"));
    writeFileSync(join(folder, "program.ts"), program);
    const compilerOptions = {
      ...{ target: "ES2022", lib: ["ES2023", "DOM", "DOM.Iterable"], module: "ESNext", types: [] },
      ...{ moduleResolution: "bundler", strict: true, noEmit: true },
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    await run("typescript/bin/tsc", "--project", folder);

    const outfile = join(folder, "program.mjs");
    await build({ entryPoints: [join(folder, "program.ts")], bundle: true, format: "esm", outfile });
    const call = `import { ask } from ${JSON.stringify(outfile)}; console.log(JSON.stringify(await ask("lk_0")));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", call]);
    expect(JSON.parse(stdout)).toEqual({
      url: `${api.stack.apiUrl}/health`,
      block: expect.stringMatching(/^\d+$/),
      code: "unauthenticated",
    });
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
