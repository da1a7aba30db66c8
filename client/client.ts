/** A typed client of the API, for browsers and Node. */
import { type AnswerHead, type Connection, exchange } from "./exchange.ts";
import type { BodyOf, CallOptions, Operation, PathWith, RequestArgument, TablePath } from "./operations.ts";
import { type Parameters, urlOf } from "./url.ts";

/** An answer that is new, or the news that the one with the tag is still true. */
export type Revalidated<Body> =
  | (AnswerHead & { readonly changed: true; readonly body: Body })
  | (AnswerHead & { readonly changed: false });

export type Client = {
  /** The address of a read, without reading it: for a link, or to tell two reads apart. */
  address<P extends PathWith<"get">>(path: P, ...request: RequestArgument<Operation<"get", P>>): string;
  /**
   * Reads: `client.get("/api/v1/stats/cover")`.
   * @throws ApiError, ConnectionError
   */
  get<P extends PathWith<"get">>(
    path: P,
    ...request: RequestArgument<Operation<"get", P>>
  ): Promise<BodyOf<Operation<"get", P>>>;
  /**
   * Reads the list in an answer as a table, or the answer as its only row: CSV with a header row.
   * @throws ApiError, ConnectionError
   */
  csv<P extends TablePath>(path: P, ...request: RequestArgument<Operation<"get", P>>): Promise<string>;
  /**
   * Reads again what was answered with `tag`: an answer that has not changed comes without its body.
   * @throws ApiError, ConnectionError
   */
  revalidate<P extends PathWith<"get">>(
    path: P,
    tag: string | undefined,
    ...request: RequestArgument<Operation<"get", P>>
  ): Promise<Revalidated<BodyOf<Operation<"get", P>>>>;
  /** Writes or prepares. @throws ApiError, ConnectionError */
  post<P extends PathWith<"post">>(
    path: P,
    ...request: RequestArgument<Operation<"post", P>>
  ): Promise<BodyOf<Operation<"post", P>>>;
  /** Deletes or revokes. @throws ApiError, ConnectionError */
  delete<P extends PathWith<"delete">>(
    path: P,
    ...request: RequestArgument<Operation<"delete", P>>
  ): Promise<BodyOf<Operation<"delete", P>>>;
};

type AnyRequest = Parameters & CallOptions & { readonly body?: unknown };

const optionsOf = ({ headers, signal, timeoutMs, body }: AnyRequest) => ({
  headers,
  signal,
  timeoutMs,
  body,
});

/** Reads the table at an address, path and query. @throws ApiError, ConnectionError */
export const readCsv = async (
  connection: Connection,
  url: string,
  options: CallOptions = {},
): Promise<string> =>
  (await exchange(connection, { ...options, method: "GET", url, accept: "text/csv" })).text;

/** Creates a client: `createClient({ baseUrl: "https://…", headers: { "x-api-key": key } })`. */
export function createClient(connection: Connection): Client {
  const send =
    (method: "GET" | "POST" | "DELETE") =>
    async (path: string, ...[request = {}]: [request?: AnyRequest]) => {
      const url = urlOf(path, request);
      return (await exchange(connection, { ...optionsOf(request), method, url })).body;
    };

  return {
    address: (path: string, ...[request]: [request?: AnyRequest]) =>
      connection.baseUrl + urlOf(path, request),
    get: send("GET"),
    post: send("POST"),
    delete: send("DELETE"),
    csv: (path: string, ...[request = {}]: [request?: AnyRequest]) =>
      readCsv(connection, urlOf(path, request), optionsOf(request)),
    async revalidate(path: string, tag: string | undefined, ...[request = {}]: [request?: AnyRequest]) {
      const headers = { ...request.headers, ...(tag === undefined ? {} : { "if-none-match": tag }) };
      const call = { ...optionsOf(request), method: "GET" as const, url: urlOf(path, request), headers };
      const { text: _, body, ...head } = await exchange(connection, call);
      return head.status === 304 ? { ...head, changed: false } : { ...head, changed: true, body };
    },
  };
}
