/** All other tests of the api rely on this checker, so it must find every fault. */
import { expect, test } from "vitest";
import type { HttpAnswer } from "../support/http.ts";
import { faultsOf, type OpenApi } from "../support/openapi.ts";

const document: OpenApi = {
  openapi: "3.0.3",
  info: { title: "t", version: "1" },
  components: {
    securitySchemes: {},
    schemas: {
      Error: { type: "object", properties: { error: { type: "string" } }, required: ["error"] },
      Id: { type: "string", pattern: "^\\d+$" },
      Thing: {
        type: "object",
        properties: {
          id: { allOf: [{ $ref: "#/components/schemas/Id" }, {}] },
          kind: { type: "string", enum: ["a", "b"] },
          parent: { type: "string", nullable: true },
          tags: { type: "array", items: { type: "integer", minimum: 1 } },
        },
        required: ["id", "kind"],
      },
      Bigger: {
        allOf: [
          { $ref: "#/components/schemas/Thing" },
          { type: "object", properties: { more: { type: "boolean" } }, required: ["more"] },
        ],
      },
    },
  },
  paths: {
    "/things/{id}": {
      get: {
        operationId: "getThing",
        summary: "",
        responses: {
          "200": {
            description: "",
            content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } },
          },
          "201": {
            description: "",
            content: { "application/json": { schema: { $ref: "#/components/schemas/Bigger" } } },
          },
          "202": {
            description: "",
            content: {
              "application/json": {
                schema: {
                  anyOf: [{ $ref: "#/components/schemas/Thing" }, { $ref: "#/components/schemas/Error" }],
                },
              },
            },
          },
        },
      },
    },
  },
};

const answer = (json: unknown, status = 200, type = "application/json"): HttpAnswer => ({
  status,
  json,
  text: JSON.stringify(json),
  headers: new Headers({ "content-type": type }),
});
const faults = (json: unknown, status?: number, type?: string) =>
  faultsOf(document, "get", "/things/7", answer(json, status, type));

test("a response that matches the document has no faults", () => {
  expect(faults({ id: "1", kind: "a" })).toEqual([]);
  expect(faults({ id: "1", kind: "a", parent: null, tags: [1, 2] })).toEqual([]);
  expect(faults({ id: "1", kind: "a", more: true }, 201)).toEqual([]);
});

test.each<[name: string, json: unknown, fault: RegExp]>([
  ["a missing field", { id: "1" }, /kind: is missing/],
  ["a field that is not in the document", { id: "1", kind: "a", extra: 1 }, /extra: is not in the document/],
  ["a wrong type", { id: 1, kind: "a" }, /id: must be of type string/],
  ["a string that does not match its pattern", { id: "x", kind: "a" }, /id: must match/],
  ["a value outside its enum", { id: "1", kind: "c" }, /kind: must be one of a, b/],
  ["a null that is not allowed", { id: "1", kind: null }, /kind: must be of type string/],
  ["an invalid list item", { id: "1", kind: "a", tags: [1, 0, 1.5] }, /tags\[1\]: must be at least 1/],
  ["a list instead of an object", [], /body: must be of type object/],
])("the checker finds %s", (_, json, fault) => {
  expect(faults(json).join("\n")).toMatch(fault);
});

test("each part of an allOf is checked, and a field that no part names is a fault", () => {
  expect(faults({ id: "1", kind: "a" }, 201).join()).toMatch(/more: is missing/);
  expect(faults({ id: "x", kind: "a", more: true, extra: 1 }, 201).join("\n")).toMatch(
    /extra[\s\S]*id: must match/,
  );
});

test("a value must match one alternative of an anyOf, which names all its fields", () => {
  for (const json of [{ id: "1", kind: "a" }, { error: "x" }]) expect(faults(json, 202)).toEqual([]);
  for (const json of [{ id: "1" }, { error: "x", kind: "a" }, { id: "1", kind: "a", extra: 1 }])
    expect(faults(json, 202).join()).toMatch(/matches no alternative/);
});

test("an undocumented status, content type or path is a fault", () => {
  expect(faults({}, 418).join()).toMatch(/documents no status 418/);
  expect(faults({}, 200, "text/plain").join()).toMatch(/documents no text\/plain/);
  expect(faultsOf(document, "get", "/other", answer({ id: "1" })).join()).toMatch(/not in the document/);
  expect(faultsOf(document, "get", "/other", answer({ error: "not_found" }, 404))).toEqual([]);
  expect(faultsOf(document, "get", "/other", answer({ wrong: 1 }, 404)).length).toBeGreaterThan(0);
});
