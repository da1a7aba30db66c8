/** What is wrong with an answer, by the document and by what the request had to get. */
import { z } from "zod";
import type { HttpAnswer } from "../../support/http.ts";
import { errorFaults, type OpenApi, responseFaults } from "../../support/openapi.ts";
import { SchemaChecker } from "../../support/schema-checker.ts";
import { codesOf, methodsAt } from "./operations.ts";
import { type Planned, pathOf } from "./requests.ts";

/** The errors that any operation may return, by their status, as the document's description says. */
const general: Readonly<Record<number, string>> = {
  400: "validation_error",
  404: "not_found",
  405: "method_not_allowed",
  413: "payload_too_large",
  431: "headers_too_large",
};
/** The codes for a request of the wrong shape. */
const shapeCodes = ["validation_error", "invalid_body", "invalid_request"];
/** Errors with these codes name the invalid fields in `details`. */
const codesWithDetails = ["validation_error", "invalid_permit"];
/** Codes with a `Retry-After` beside those of 429 and 503. */
const codesWithRetry = ["sandbox_cap_exceeded", "permit_in_flight"];
/** The codes that a request with valid values and a good credential never gets. */
const neverForValid = [...shapeCodes, "unauthenticated", "unsupported_media_type", "payload_too_large"];

const envelope = z.object({
  error: z.string(),
  code: z.string(),
  message: z.string(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).nullable(),
});
type Envelope = z.output<typeof envelope>;

/** The error in an answer; undefined without one. */
const errorOf = ({ status, json }: HttpAnswer): Envelope | undefined =>
  status < 400 ? undefined : envelope.safeParse(json).data;

/** Documented headers that some answers of the status lack: when each is needed. */
const needed: Readonly<Record<string, (answer: HttpAnswer) => boolean>> = {
  location: (answer) => answer.status < 300 || errorOf(answer)?.code === "purchase_pending",
  "idempotency-key": (answer) => answer.status < 300 || errorOf(answer)?.code === "purchase_pending",
  "retry-after": (answer) =>
    ![403, 409].includes(answer.status) || codesWithRetry.includes(errorOf(answer)?.code ?? ""),
  // A policy comes from the index or from the chain.
  "x-indexed-block": ({ headers }) => !headers.has("x-chain-block"),
  "x-chain-block": ({ headers }) => !headers.has("x-indexed-block"),
  // Only a table that has another page.
  link: () => false,
};

/** The form of headers that their schema leaves open. */
const headerForms: Readonly<Record<string, RegExp>> = {
  "x-indexed-block": /^\d+$/,
  "x-chain-block": /^\d+$/,
  etag: /^"[^"]+"$/,
  link: /^<\/[^>]+>; rel="next"$/,
  location: /^\/api\/v1\/(purchases|reports)\/[0-9a-f-]{36}$/,
};

function documentedHeaderFaults(document: OpenApi, { operation, method }: Planned, answer: HttpAnswer) {
  const { schemas, headers: shared = {} } = document.components;
  const documented = operation.responses[String(answer.status)]?.headers ?? {};
  return Object.entries(documented).flatMap(([documentedName, { $ref, schema }]) => {
    const name = documentedName.toLowerCase();
    const value = answer.headers.get(name);
    if (value === null) {
      // The answer to HEAD has no body: the code of an error, and with it the headers, are unknown.
      const isNeeded = method !== "HEAD" && (needed[name]?.(answer) ?? true);
      return isNeeded ? [`the header ${name} is missing`] : [];
    }
    const rules = $ref === undefined ? schema : shared[$ref.replace("#/components/headers/", "")]?.schema;
    const typed = rules?.type === "integer" && /^\d+$/.test(value) ? Number(value) : value;
    const fits = rules && new SchemaChecker(schemas).accepts(typed, rules);
    return fits && (headerForms[name] ?? /./).test(value)
      ? []
      : [`the header ${name} is malformed: ${value}`];
  });
}

/** The faults of the headers that every answer has. Node itself answers 431, before there is a request. */
function commonHeaderFaults({ headers: sent, operation, method }: Planned, { status, headers }: HttpAnswer) {
  const [limit, remaining] = ["limit", "remaining"].map((name) => headers.get(`x-ratelimit-${name}`));
  const isRequestId = (text: string | null | undefined) => /^[\w=-]{1,64}$/.test(text ?? "");
  const wanted = sent.find(([name]) => name === "X-Request-Id")?.[1];
  const id = headers.get("x-request-id");
  const isPrivate = status >= 400 || (operation.guard !== "none" && method !== "OPTIONS");
  const rules = {
    [`x-request-id is ${id}`]: status === 431 || isRequestId(id),
    "x-request-id is not the sent one": !isRequestId(wanted) || status === 431 || id === wanted,
    "x-ratelimit-remaining is above x-ratelimit-limit": Number(remaining) <= Number(limit),
    "no Cache-Control: no-store":
      status === 431 || !isPrivate || /no-store/.test(headers.get("cache-control") ?? ""),
    "no Retry-After": (status !== 429 && status !== 503) || headers.has("retry-after"),
  };
  return Object.keys(rules).filter((fault) => !rules[fault]);
}

/** An error must be an envelope with a code that is documented for the operation and status. */
function envelopeFaults({ operation }: Planned, answer: HttpAnswer): string[] {
  const error = errorOf(answer);
  if (!error) return answer.status < 400 ? [] : ["the error has no envelope"];
  const isDocumented = Object.hasOwn(codesOf(operation, answer.status), error.code);
  return [
    ...(error.error === error.code ? [] : [`error ${error.error} differs from code ${error.code}`]),
    ...(isDocumented ? [] : [`the code ${error.code} is not documented for ${answer.status}`]),
    ...(error.message === "" ? ["the message is empty"] : []),
    ...(error.details && !codesWithDetails.includes(error.code) ? [`details with ${error.code}`] : []),
  ];
}

/** The faults of an answer as the document describes it. */
function documentFaults(document: OpenApi, planned: Planned, answer: HttpAnswer): string[] {
  const { operation, method, expected } = planned;
  const code = errorOf(answer)?.code;
  if (code === "internal_error") return ["internal_error"];
  if (method === "OPTIONS") return answer.text === "" ? [] : ["a preflight has no body"];
  const isGeneral = ["refused", "documented"].includes(expected.kind) && general[answer.status] === code;
  if (expected.kind === "elsewhere" || (isGeneral && code !== undefined)) {
    const allowed = answer.headers.get("allow")?.split(", ") ?? [];
    const missing = answer.status === 405 ? methodsAt(document, pathOf(planned)) : [];
    return [
      ...(answer.status < 400 ? [] : errorFaults(document, answer.json)),
      ...missing.filter((name) => !allowed.includes(name)).map((name) => `Allow lacks ${name}`),
    ];
  }
  const isHead = method === "HEAD";
  return [
    ...responseFaults(document, operation, isHead ? "head" : operation.method, answer),
    ...(isHead ? [] : envelopeFaults(planned, answer)),
    ...(isHead && answer.text !== "" ? ["a response to HEAD has no body"] : []),
    ...documentedHeaderFaults(document, planned, answer),
  ];
}

const names = ({ details, message }: Envelope, field: string): boolean =>
  details
    ? details.some(({ path }) => path === field || path.startsWith(`${field}.`))
    : message.toLowerCase().includes(field.toLowerCase());

/** Whether the answer is the one that the request had to get. */
function expectationFaults({ expected }: Planned, answer: HttpAnswer): string[] {
  const { status } = answer;
  const error = errorOf(answer);
  // A documented outage may come before these answers.
  const isOutage = status === 503;
  const got = `got ${status} ${error?.code ?? ""}`.trim();
  switch (expected.kind) {
    case "success":
      return status >= 200 && status < 300 ? [] : [`must succeed, ${got}`];
    case "unchanged":
      // There may be no resource with the generated id.
      return status === 304 || status === 404 || isOutage ? [] : [`must be 304, ${got}`];
    case "well-formed":
      return error && neverForValid.includes(error.code)
        ? [`every value is valid, ${got}: ${error.message}`]
        : [];
    case "refused": {
      const isIt = isOutage || (status === expected.status && error?.code === expected.code);
      return isIt ? [] : [`must be ${expected.status} ${expected.code}, ${got}`];
    }
    case "invalid":
      if (status !== 400 || !error || !shapeCodes.includes(error.code))
        return [`must be 400 for its shape, ${got}`];
      return names(error, expected.field)
        ? []
        : [`does not name ${expected.field}: ${answer.text.slice(0, 300)}`];
    default:
      return [];
  }
}

/** All faults of an answer, one line each. */
export const judge = (document: OpenApi, planned: Planned, answer: HttpAnswer): string[] => [
  ...documentFaults(document, planned, answer),
  ...commonHeaderFaults(planned, answer),
  ...expectationFaults(planned, answer),
];
