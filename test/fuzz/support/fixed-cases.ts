/** The cases that every operation gets once: methods, credentials, addresses, content types and bodies as a whole. */
import type { OpenApi } from "../../support/openapi.ts";
import { methodsAt, type Operation } from "./operations.ts";
import {
  badKeys,
  badTokens,
  type Expected,
  type Overrides,
  type Parts,
  type Planned,
  pathOf,
  planned,
} from "./requests.ts";

/** One case: the request that keeps all rules, but for these changes. */
type Case = readonly [about: string, Expected, Overrides?, Partial<Parts>?];

const LARGEST_BODY = 64 * 1024;
const JSON_TYPE = "application/json";
const wellFormed: Expected = { kind: "well-formed" };
const elsewhere: Expected = { kind: "elsewhere" };
const unchanged: Expected = { kind: "unchanged" };
const notAnObject: Expected = { kind: "invalid", field: "body" };

const refused = (status: number, code: string): Expected => ({ kind: "refused", status, code });
const unauthenticated = refused(401, "unauthenticated");
const wrongType = refused(415, "unsupported_media_type");

function methodCases(document: OpenApi, operation: Operation, target: string): Case[] {
  const known = methodsAt(document, pathOf({ target }));
  const others = ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"].filter(
    (method) => !known.includes(method),
  );
  const asked = operation.method.toUpperCase();
  const bare = { body: undefined, headers: [] };
  const fromBrowser = [
    ["Origin", "https://example.org"],
    ["Access-Control-Request-Method", asked],
  ] as const;
  const preflight = { method: "OPTIONS", body: undefined, headers: fromBrowser };
  return [
    ...others.map((method): Case => [method, refused(405, "method_not_allowed"), { method, ...bare }]),
    ["OPTIONS", { kind: "success" }, preflight, { credential: "none" }],
    ...(asked === "GET" ? [["HEAD", wellFormed, { method: "HEAD" }] as const] : []),
  ];
}

function credentialCases({ guard }: Operation, { query }: Parts): Case[] {
  if (guard === "none") return [["an ignored key", wellFormed, {}, { credential: "malformedKey" }]];
  const credentials = guard === "apiKey" ? badKeys : badTokens;
  const inUrl: Case = ["a key in the URL", unauthenticated, {}, { query: [...query, ["api_key", "x"]] }];
  return [
    ...credentials.map((credential): Case => [credential, unauthenticated, {}, { credential }]),
    ...(guard === "apiKey" ? [inUrl] : []),
  ];
}

function addressCases({ path: template }: Operation, target: string): Case[] {
  const [path = "", query] = target.split(/(?=\?)/);
  const at = (about: string, expected: Expected, other: string): Case => [about, expected, { target: other }];
  const broken = template.includes("{") ? ["%", "%zz", "%E0%A4%A", "%C3%28"] : [];
  return [
    at("a slash at the end", wellFormed, `${path}/${query ?? ""}`),
    at("two slashes at the start", elsewhere, `/${target}`),
    at("a step up", elsewhere, `${path}/..${query ?? ""}`),
    at("a long address", refused(431, "headers_too_large"), `${path}${query ?? "?"}&x=${"x".repeat(20_000)}`),
    ...broken.map((text) =>
      at(`path with ${text}`, refused(400, "validation_error"), template.replace(/\{\w+\}/g, text)),
    ),
  ];
}

function bodyCases({ requestBody }: Operation, parts: Parts): Case[] {
  const sent = (about: string, expected: Expected, body: string, type?: string): Case => {
    const headers = [...(type === undefined ? [] : [["Content-Type", type] as const]), ...parts.headers];
    return [about, expected, { body, headers }];
  };
  if (!requestBody) return [sent("an ignored body", wellFormed, '{"limit":"x"}', JSON_TYPE)];
  const text = JSON.stringify(parts.body);
  const wrong = [
    ...["null", "[]", "[{}]", "1", '"text"', "true", "{", "\u0000", "[".repeat(50_000)],
    ...[text.slice(0, -1), `${text}}`, text.replaceAll('"', "'"), ...(requestBody.required ? [""] : [])],
  ];
  const otherTypes = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json", ""];
  const jsonTypes = [`${JSON_TYPE}; charset=utf-8`, "Application/JSON", `${JSON_TYPE} ; charset=utf-8`];
  const large = text.replace(/\}$/, `${" ".repeat(LARGEST_BODY)}}`);
  return [
    ...wrong.map((body) => sent(`body ${body.slice(0, 20)}`, notAnObject, body, JSON_TYPE)),
    ...otherTypes.map((type) => sent(`content type ${type}`, wrongType, text, type)),
    sent("no content type", wrongType, text),
    ...jsonTypes.map((type) => sent(`content type ${type}`, wellFormed, text, type)),
    sent("a large body", refused(413, "payload_too_large"), large, JSON_TYPE),
  ];
}

function conditionalCases({ responses }: Operation): Case[] {
  if (!responses["304"]) return [];
  const named = (expected: Expected, ...tags: readonly string[]) =>
    tags.map((tag): Case => [`If-None-Match ${tag}`, expected, { headers: [["If-None-Match", tag]] }]);
  return [...named(unchanged, "*", '"other", *'), ...named(wellFormed, '"other"', 'W/"', "")];
}

/** `parts` are those of a request that keeps all rules. */
export function fixedCases(document: OpenApi, operation: Operation, parts: Parts): Planned[] {
  const { target } = planned(operation, parts, "", wellFormed);
  const cases = [
    ...methodCases(document, operation, target),
    ...credentialCases(operation, parts),
    ...addressCases(operation, target),
    ...bodyCases(operation, parts),
    ...conditionalCases(operation),
  ];
  return cases.map(([about, expected, overrides, changes]) =>
    planned(operation, { ...parts, ...changes }, about, expected, overrides),
  );
}
