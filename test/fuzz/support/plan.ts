/** The requests of a run: for each operation the fixed cases, and as many random ones as are left. */
import fc from "fast-check";
import type { OpenApi } from "../../support/openapi.ts";
import { fixedCases } from "./fixed-cases.ts";
import { type Break, breaks, type Generating, validParts } from "./generate.ts";
import { codesOf, type Operation, operationsOf } from "./operations.ts";
import { type Credential, type Expected, type Pairs, type Parts, type Planned, planned } from "./requests.ts";

export type PlanOptions = Generating & {
  readonly document: OpenApi;
  readonly seed: number;
  /** Requests of each operation; more where its fixed cases leave too few random ones. */
  readonly requests: number;
};

const LEAST_RANDOM = 15;

/** With a key of another wallet, which owns nothing: what belongs to the owner does not exist for it. */
function foreignRequests(operation: Operation, valid: fc.Arbitrary<Parts>): fc.Arbitrary<Planned> {
  const [code = ""] = Object.keys(codesOf(operation, 404));
  const expected: Expected = { kind: "refused", status: 404, code };
  return valid.map((parts) =>
    planned(operation, { ...parts, credential: "stranger" }, "a key of another wallet", expected),
  );
}

const rawQueries = [
  ...["?", "?&&&", "?=", "?limit", "?limit[]=1", "?a=%zz&b=%", "?%00=%00", "?a;b", "?a=1#b", "??", "?+=+"],
  `?${"limit=1&".repeat(1000)}`,
];
const oddHeaders: Pairs = [
  ["Accept", "text/html"],
  ["Accept", "*/*;q=0"],
  ["Accept-Encoding", "gzip, br"],
  ["X-Request-Id", "fuzz-1"],
  ["X-Request-Id", "not valid; \u00e4"],
  ["X-Forwarded-For", "1.2.3.4, unknown, ::1"],
  ["X-HTTP-Method-Override", "DELETE"],
  ["Origin", "null"],
  ["Cookie", "a=b; c"],
  ["Range", "bytes=0-1"],
  ["If-Match", '"nothing"'],
  ["If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"],
  ["Idempotency-Key", "fuzz"],
  ["Prefer", "respond-async, wait=1"],
];
const oddBodies = ["null", "[]", "{", "{}{}", '{"a":1e400}', '{"a":1,"a":2}', '"\\ud800"', "\ufeff{}", "a=b"];
const credentials: Credential[] = ["owner", "none", "poor", "revokedKey", "admin", "wrongToken"];

/** Requests with several faults. The document does not say which fault is answered, so any documented answer is right. */
function oddRequests(operation: Operation, valid: fc.Arbitrary<Parts>, broken: fc.Arbitrary<Break>) {
  const sometimes = <T>(values: readonly T[]) =>
    fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
  return fc
    .record({
      parts: valid,
      changes: fc.array(broken, { minLength: 1, maxLength: 3 }),
      credential: fc.constantFrom(...credentials),
      header: sometimes(oddHeaders),
      query: sometimes(rawQueries),
      body: sometimes(oddBodies),
    })
    .map(({ parts, changes, credential, header, query, body }) => {
      const changed = changes.reduce((sum, { apply }) => apply(sum), { ...parts, credential });
      const about = ["odd", ...changes.map((change) => change.about)].join("; ");
      const request = planned(operation, changed, about, { kind: "documented" });
      return {
        ...request,
        target: query === undefined ? request.target : request.target.replace(/\?.*|$/s, query),
        body: request.body && (body ?? request.body),
        headers: header ? [...request.headers, header] : request.headers,
      };
    });
}

function requestsOf(options: PlanOptions, operation: Operation, seed: number): Planned[] {
  const valid = validParts(options, operation);
  const [example] = fc.sample(valid, { seed, numRuns: 1 });
  if (!example) throw new Error(`no example of ${operation.operationId}`);
  const fixed = fixedCases(options.document, operation, example);
  const broken = breaks(options, operation);
  const wellFormed = fc
    .tuple(valid, fc.boolean())
    .map(([parts, escaped]) => planned(operation, parts, "valid", { kind: "well-formed" }, { escaped }));
  const invalid = fc
    .tuple(valid, broken, fc.boolean())
    .map(([parts, { field, about, apply }, escaped]) =>
      planned(operation, apply(parts), about, { kind: "invalid", field }, { escaped }),
    );
  const { guard, path } = operation;
  const isOwned = guard === "apiKey" && path.includes("{") && Object.keys(codesOf(operation, 404)).length > 0;
  const random = fc.oneof(
    { weight: 4, arbitrary: wellFormed },
    { weight: 6, arbitrary: invalid },
    { weight: isOwned ? 1 : 0, arbitrary: foreignRequests(operation, valid) },
    { weight: 3, arbitrary: oddRequests(operation, valid, broken) },
  );
  const left = Math.max(LEAST_RANDOM, options.requests - fixed.length);
  return [...fixed, ...fc.sample(random, { seed, numRuns: left })];
}

/** All requests, those of different operations in turn. The same seed and fixture give the same requests. */
export function planRequests(options: PlanOptions): Planned[] {
  const byOperation = operationsOf(options.document).map((operation, index) =>
    requestsOf(options, operation, options.seed + index),
  );
  const longest = Math.max(...byOperation.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) =>
    byOperation.flatMap((list) => list[index] ?? []),
  ).flat();
}
