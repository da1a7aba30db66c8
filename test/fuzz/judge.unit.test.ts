/** The fuzz proves as much as its judge finds: each rule passes an answer that keeps it, and finds one that breaks it. */
import { expect, test } from "vitest";
import type { HttpAnswer } from "../support/http.ts";
import type { OpenApi } from "../support/openapi.ts";
import { judge } from "./support/judge.ts";
import { operationsOf } from "./support/operations.ts";
import { type Expected, type Planned, planned } from "./support/requests.ts";

const string = { type: "string" } as const;
const json = (schema: object, ...codes: string[]) => ({
  "application/json": { schema, examples: Object.fromEntries(codes.map((code) => [code, {}])) },
});
const error = (code: string) => json({ $ref: "#/components/schemas/Error" }, code);
const headers = { "x-ratelimit-limit": { $ref: "#/components/headers/x-ratelimit-limit" } };
const document: OpenApi = {
  openapi: "3.0.3",
  info: { title: "", version: "" },
  components: {
    securitySchemes: {},
    headers: { "x-ratelimit-limit": { schema: { type: "integer", minimum: 1 } } },
    schemas: {
      Error: {
        type: "object",
        properties: {
          error: string,
          code: string,
          message: string,
          details: { type: "array", nullable: true },
        },
        required: ["error", "code", "message", "details"],
      },
    },
  },
  paths: {
    "/things/{id}": {
      get: {
        operationId: "getThing",
        summary: "",
        responses: {
          "200": { description: "", headers, content: json({ type: "object", properties: { id: string } }) },
          "304": { description: "" },
          "400": { description: "", headers, content: error("validation_error") },
          "503": { description: "", content: error("scan_busy") },
        },
      },
    },
  },
};
const [operation] = operationsOf(document);

const valid: Expected = { kind: "well-formed" };
const invalid: Expected = { kind: "invalid", field: "id" };
const success: Expected = { kind: "success" };
const unchanged: Expected = { kind: "unchanged" };
const unauthenticated: Expected = { kind: "refused", status: 401, code: "unauthenticated" };
const notAllowed: Expected = { kind: "refused", status: 405, code: "method_not_allowed" };

type Sent = Record<string, string | undefined>;

function answer(status: number, body: unknown, changes: Sent = {}): HttpAnswer {
  const usual: Sent = {
    "content-type": "application/json",
    "x-request-id": "1",
    "x-ratelimit-limit": "5",
    "x-ratelimit-remaining": "4",
    "cache-control": status < 400 ? undefined : "no-store",
  };
  const given = Object.entries({ ...usual, ...changes });
  const sent = new Headers(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  return { status, json: body, text: body === undefined ? "" : JSON.stringify(body), headers: sent };
}

const ok = (changes?: Sent) => answer(200, { id: "7" }, changes);
const details = (path: string) => [{ path, message: "no" }];
const failed = (status: number, code: string, body: object = {}, changes?: Sent) =>
  answer(status, { error: code, code, message: "no", details: null, ...body }, changes);
const badId = (body: object = {}, changes?: Sent) =>
  failed(400, "validation_error", { details: details("id"), ...body }, changes);
const busy = (changes?: Sent) => failed(503, "scan_busy", {}, changes);
const wrongMethod = (allow: string) => failed(405, "method_not_allowed", {}, { allow });

function faultsOf(expected: Expected, given: HttpAnswer, method = "GET"): string {
  if (!operation) throw new Error("the document has no operation");
  const parts = { path: { id: "7" }, query: [], headers: [], body: undefined, credential: "none" } as const;
  const request: Planned = { ...planned(operation, parts, "", expected), method };
  return judge(document, request, given).join("\n");
}

test.each<[name: string, Expected, HttpAnswer, method?: string]>([
  ["a success", valid, ok()],
  ["a success that must be one", success, ok()],
  ["a documented outage", valid, busy({ "retry-after": "30" })],
  ["an unchanged answer", unchanged, answer(304, undefined)],
  ["a refusal that names the field", invalid, badId()],
  ["a HEAD without a body", valid, answer(200, undefined), "HEAD"],
  ["an error of any operation", notAllowed, wrongMethod("GET, HEAD")],
])("%s has no faults", (_, expected, given, method) => {
  expect(faultsOf(expected, given, method)).toBe("");
});

test.each<[name: string, Expected, HttpAnswer, fault: RegExp, method?: string]>([
  ["an undocumented status", valid, answer(201, {}), /documents no status 201/],
  ["an undocumented field", valid, answer(200, { other: 1 }), /other: is not in the document/],
  ["an undocumented content type", valid, ok({ "content-type": "text/plain" }), /documents no text/],
  ["an internal error", valid, failed(500, "internal_error"), /internal_error/],
  ["an undocumented code", valid, failed(503, "paused"), /paused is not documented/],
  ["two codes", invalid, badId({ error: "x" }), /differs from code/],
  ["a missing header", valid, ok({ "x-ratelimit-limit": undefined }), /x-ratelimit-limit is missing/],
  ["a malformed header", valid, ok({ "x-ratelimit-limit": "0" }), /x-ratelimit-limit is malformed/],
  ["more left than allowed", valid, ok({ "x-ratelimit-remaining": "6" }), /above x-ratelimit-limit/],
  ["no request id", valid, ok({ "x-request-id": undefined }), /x-request-id/],
  ["no Retry-After", valid, busy(), /Retry-After/],
  ["an error that may be stored", invalid, badId({}, { "cache-control": "public" }), /no-store/],
  ["a refusal of a valid request", valid, badId(), /every value is valid/],
  ["success of an invalid request", invalid, ok(), /must be 400/],
  ["a refusal that names another field", invalid, badId({ details: details("x") }), /does not name id/],
  ["a failure that must be a success", success, badId(), /must succeed/],
  ["another refusal", unauthenticated, badId(), /must be 401/],
  ["a changed answer", unchanged, ok(), /must be 304/],
  ["a HEAD with a body", valid, ok(), /HEAD has no body/, "HEAD"],
  ["an incomplete Allow", notAllowed, wrongMethod("POST"), /Allow lacks GET/],
])("the judge finds %s", (_, expected, given, fault, method) => {
  expect(faultsOf(expected, given, method)).toMatch(fault);
});
