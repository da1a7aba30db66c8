/** One request and its answer. */
import { ApiError, ConnectionError } from "./api-error.ts";

/** How many calls the API still allows this client, or its key, until the count begins anew. */
export type RateLimit = { readonly limit: number; readonly remaining: number; readonly resetSeconds: number };

/** The parts of an answer that every operation shares. */
export type AnswerHead = {
  readonly status: number;
  /** The block that an indexed answer describes. */
  readonly indexedBlock: bigint | undefined;
  /** Seconds between that block and the answer. */
  readonly indexAgeSeconds: number | undefined;
  /** Sent back, it saves the body of an answer that has not changed. */
  readonly tag: string | undefined;
  readonly rateLimit: RateLimit | undefined;
};

/** Where and how a client calls. */
export type Connection = {
  /** The API's address without a trailing slash; empty for the origin of the page. */
  readonly baseUrl: string;
  /** Sent with every call: `{ "x-api-key": … }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Longest wait for an answer, in ms: 35 s if left out, because a purchase may take 30. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
};

export type Outgoing = {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
};

const TIMEOUT_MS = 35_000;

const numberIn = (headers: Headers, name: string): number | undefined => {
  const text = headers.get(name);
  return text === null ? undefined : Number(text);
};

function rateLimitOf(headers: Headers): RateLimit | undefined {
  const limit = numberIn(headers, "x-ratelimit-limit");
  const remaining = numberIn(headers, "x-ratelimit-remaining");
  const resetSeconds = numberIn(headers, "x-ratelimit-reset");
  if (limit === undefined || remaining === undefined || resetSeconds === undefined) return undefined;
  return { limit, remaining, resetSeconds };
}

function headOf({ status, headers }: Response): AnswerHead {
  const block = headers.get("x-indexed-block");
  return {
    status,
    indexedBlock: block === null ? undefined : BigInt(block),
    indexAgeSeconds: numberIn(headers, "x-index-age"),
    tag: headers.get("etag") ?? undefined,
    rateLimit: rateLimitOf(headers),
  };
}

/** The API's error in an answer; `ConnectionError` where somebody else has answered. */
function failureOf(response: Response, text: string): Error {
  try {
    const body = JSON.parse(text);
    if (typeof body.code === "string" && typeof body.message === "string")
      return new ApiError(body, response);
  } catch {
    // not JSON: a proxy's page
  }
  return new ConnectionError(`The answer ${response.status} is not the API's.`);
}

/**
 * Sends one request and reads the whole answer. The body stays text: the caller knows its type.
 * @throws ApiError when the API refuses it, ConnectionError when no answer comes, the signal's reason when it is aborted
 */
export async function exchange(
  { baseUrl, headers, timeoutMs = TIMEOUT_MS, fetch: send = fetch }: Connection,
  outgoing: Outgoing,
): Promise<AnswerHead & { readonly text: string }> {
  const { method, url, body, signal } = outgoing;
  const late = AbortSignal.timeout(timeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await send(baseUrl + url, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
        ...outgoing.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
    text = await response.text();
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    const reason = late.aborted ? `within ${timeoutMs / 1000} seconds` : "from the API";
    throw new ConnectionError(`No answer came ${reason}.`, { cause });
  }
  if (!response.ok && response.status !== 304) throw failureOf(response, text);
  return { ...headOf(response), text };
}
