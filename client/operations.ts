/** Paths, parameters and bodies of the API's operations, as its OpenAPI document types them. */
import type { components, paths } from "./generated/api-types.ts";

type Method = "get" | "post" | "delete";

/** An operation that answers a person, with a page. */
type Page = { responses: { 200: { content: { "text/html": string } } } };
/** An operation that answers with a table too. */
type Table = { responses: { 200: { content: { "text/csv": string } } } };

/** The paths that know a method. Those of pages are left out: no call can use their answer. */
export type PathWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends Readonly<Record<M, { responses: unknown }>>
    ? paths[P][M] extends Page
      ? never
      : P
    : never;
}[keyof paths];

/** The paths of reads that also answer with a table, as CSV. */
export type TablePath = {
  [P in PathWith<"get">]: Operation<"get", P> extends Table ? P : never;
}[PathWith<"get">];

/** The operation behind a method and a path. */
export type Operation<M extends Method, P extends keyof paths> =
  paths[P] extends Readonly<Record<M, infer O>> ? O : never;

type PathPart<O> = O extends { parameters: { path: infer Path extends object } } ? { path: Path } : unknown;

type QueryPart<O> = O extends { parameters: { query: infer Query extends object } }
  ? { query: Query }
  : O extends { parameters: { query?: infer Query } }
    ? { query?: Query }
    : unknown;

type BodyPart<O> = O extends { requestBody: { content: { "application/json": infer Body } } }
  ? { body: Body }
  : O extends { requestBody?: { content: { "application/json": infer Body } } }
    ? { body?: Body }
    : unknown;

/** What can be said about each call, beside its parameters. */
export type CallOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the call and its retries; what was sent stays sent. */
  readonly signal?: AbortSignal;
  /** Longest wait for one answer, in ms; the client's if left out. */
  readonly timeoutMs?: number;
};

/** Parameters, body and options of a call. */
export type RequestOf<O> = PathPart<O> & QueryPart<O> & BodyPart<O> & CallOptions;

/** The last argument of a call: it may be left out where the operation needs nothing. */
export type RequestArgument<O> =
  CallOptions extends RequestOf<O> ? [request?: RequestOf<O>] : [request: RequestOf<O>];

/** The JSON body of every success of an operation; undefined where it has none. */
export type BodyOf<O> = O extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: Responses[Status] extends { content: { "application/json": infer Body } }
        ? Body
        : undefined;
    }[keyof Responses]
  : never;

/** The body of `GET` at a path: `AnswerTo<"/api/v1/stats/cover">`. */
export type AnswerTo<P extends PathWith<"get">> = BodyOf<Operation<"get", P>>;

/** A named schema of the document: `Schema<"Policy">`. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];
