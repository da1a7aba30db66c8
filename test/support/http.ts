/** An HTTP response with its parsed body. */
export type HttpAnswer = {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body of a JSON response, else undefined. */
  readonly json: unknown;
  readonly text: string;
};

export type HttpRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, for bodies that are not JSON. */
  readonly rawBody?: string;
  readonly timeoutMs?: number;
};

/** Sends one request and reads the whole response. Does not follow redirects. */
export async function http(url: string, request: HttpRequest = {}): Promise<HttpAnswer> {
  const { method, headers, body, rawBody, timeoutMs = 300_000 } = request;
  const payload = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url, {
    method: method ?? (payload === undefined ? "GET" : "POST"),
    headers: { ...(payload === undefined ? {} : { "content-type": "application/json" }), ...headers },
    body: payload,
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  return {
    status: response.status,
    headers: response.headers,
    json: isJson && text !== "" ? JSON.parse(text) : undefined, // the response to HEAD has no body
    text,
  };
}
