/** One call: its request, its answer, and the retries in between. */
import { ApiError, ConnectionError, retryAfterOf } from "./api-error.ts";
import { startDeadline } from "./deadline.ts";
import { pause } from "./pause.ts";
import { mayRepeat, noRetries, type RetryPolicy, waitBeforeRetry } from "./retries.ts";

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

/** A request as a hook sees it: no key, no signature, no body. */
export type SentRequest = {
  readonly method: "GET" | "POST" | "DELETE";
  /** The whole address. */
  readonly url: string;
  /** From 1; each retry adds one. */
  readonly attempt: number;
};

/** What came of a request: an answer with its status, or an error. */
export type ReceivedResponse = SentRequest & {
  readonly durationMs: number;
  /** Undefined when no answer came. */
  readonly status: number | undefined;
  /** Undefined for a success. */
  readonly error: ApiError | ConnectionError | undefined;
  /** The wait before the next attempt, in ms; undefined when there is none. */
  readonly retryInMs: number | undefined;
};

/** Where and how a client calls. */
export type Connection = {
  /** The API's address without a trailing slash; empty for the origin of the page. */
  readonly baseUrl: string;
  /** Sent with every call: `{ "x-api-key": … }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Longest wait for one answer, in ms: 35 s if left out, because a purchase may take 30. */
  readonly timeoutMs?: number;
  /** None if left out. */
  readonly retries?: RetryPolicy;
  /** For logs: called before each attempt, and after it; nobody waits for them. A log never costs an answer: a failure is ignored. */
  readonly onRequest?: (request: SentRequest) => void;
  readonly onResponse?: (response: ReceivedResponse) => void;
  readonly fetch?: typeof fetch;
};

export type Outgoing = {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The form of the answer; JSON if left out. */
  readonly accept?: "text/csv";
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
};

const TIMEOUT_MS = 35_000;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

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

/**
 * The JSON in an answer's text; undefined where it is none: a proxy's page. Its type is that of the document, with which the
 * service's own tests compare every answer: to check it here again would cost a browser more than the rest of the client.
 */
function jsonIn(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An answer: its text, and the JSON in it. There is none in an empty one, or in a table. */
export type Answer = AnswerHead & { readonly text: string; readonly body: ReturnType<typeof jsonIn> };

/** Integers of the chain are bigints here, and decimal strings on the wire. */
const serialise = (body: unknown): string =>
  JSON.stringify(body, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));

/** The `Idempotency-Key` of a call, in any spelling: names of headers have no case. */
const idempotencyKeyOf = ({ headers }: Outgoing): string | undefined =>
  new Headers(headers).get("idempotency-key") ?? undefined;

/** The API's error in an answer; `ConnectionError` where somebody else has answered. */
function failureOf(response: Response, text: string, outgoing: Outgoing): ApiError | ConnectionError {
  const idempotencyKey = idempotencyKeyOf(outgoing);
  const body = jsonIn(text);
  if (typeof body?.code === "string" && typeof body.message === "string")
    return new ApiError(body, response, idempotencyKey);
  const { status, headers } = response;
  return new ConnectionError(`The answer ${status} is not the API's.`, {
    // A proxy answers 429, or any 5xx, for an API that may have heard the call. Its other answers come again.
    retryable: (status === 429 || status >= 500) && mayRepeat(outgoing.method, outgoing.url, idempotencyKey),
    retryAfterSeconds: retryAfterOf(headers),
    idempotencyKey,
  });
}

function lostAnswer(cause: unknown, outgoing: Outgoing, reason: string): ConnectionError {
  const idempotencyKey = idempotencyKeyOf(outgoing);
  return new ConnectionError(`No answer came ${reason}.`, {
    cause,
    retryable: mayRepeat(outgoing.method, outgoing.url, idempotencyKey),
    idempotencyKey,
  });
}

const isOfType = ({ headers }: Response, type: string): boolean =>
  headers.get("content-type")?.includes(type) ?? false;

/** A success of another form: the answer was cut off, or somebody else has answered, as will happen again. */
function unreadable(response: Response, outgoing: Outgoing): ConnectionError {
  const { method, url, accept } = outgoing;
  const isCutOff = accept === undefined && isOfType(response, "json");
  const idempotencyKey = idempotencyKeyOf(outgoing);
  return new ConnectionError(`The answer is not the API's, or not whole: it is no ${accept ?? "JSON"}.`, {
    retryable: isCutOff && mayRepeat(method, url, idempotencyKey),
    idempotencyKey,
  });
}

/** One attempt. @throws ApiError, ConnectionError, the signal's reason, TypeError for a header with characters that none may have */
async function attempt(connection: Connection, outgoing: Outgoing): Promise<Answer> {
  const { baseUrl, fetch: send = fetch } = connection;
  const { method, url, body, signal, accept } = outgoing;
  // It throws at once: a key that no header can carry is no lost answer.
  const headers = new Headers({
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(accept === undefined ? {} : { accept }),
    ...connection.headers,
    ...outgoing.headers,
  });
  const timeoutMs = outgoing.timeoutMs ?? connection.timeoutMs ?? TIMEOUT_MS;
  const deadline = startDeadline(timeoutMs, signal);
  let response: Response;
  let text: string;
  try {
    response = await send(baseUrl + url, {
      method,
      headers,
      ...(body === undefined ? {} : { body: serialise(body) }),
      // The API redirects nobody, and a key must not follow a redirect to another host.
      redirect: "error",
      signal: deadline.signal,
    });
    text = await response.text();
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw lostAnswer(
      cause,
      outgoing,
      deadline.isPast() ? `within ${timeoutMs / 1000} seconds` : "from the API",
    );
  } finally {
    deadline.clear();
  }
  if (!response.ok && response.status !== NOT_MODIFIED) throw failureOf(response, text, outgoing);
  const isEmpty = response.status === NO_CONTENT || response.status === NOT_MODIFIED;
  if (isEmpty || (accept !== undefined && isOfType(response, accept)))
    return { ...headOf(response), text, body: undefined };
  const answer = accept === undefined ? jsonIn(text) : undefined;
  if (answer === undefined) throw unreadable(response, outgoing);
  return { ...headOf(response), text, body: answer };
}

/** Calls a hook at once, and does not wait for its promise. It never rejects. */
async function tell<Event>(hook: ((event: Event) => void) | undefined, event: Event): Promise<void> {
  try {
    await hook?.(event);
  } catch {
    // see `Connection`
  }
}

const statusOf = (error: unknown) => (error instanceof ApiError ? error.status : undefined);
const knownError = (error: unknown) =>
  error instanceof ApiError || error instanceof ConnectionError ? error : undefined;

/**
 * Sends a request and reads the whole answer. It is sent again while its failure passes by itself and a repetition does no
 * harm.
 * @throws ApiError when the API refuses it, ConnectionError when no answer comes, the signal's reason when it is aborted
 */
export async function exchange(connection: Connection, outgoing: Outgoing): Promise<Answer> {
  const { retries = noRetries, onRequest, onResponse } = connection;
  const { method, signal } = outgoing;
  for (let count = 0; ; count += 1) {
    signal?.throwIfAborted();
    const request: SentRequest = { method, url: connection.baseUrl + outgoing.url, attempt: count + 1 };
    tell(onRequest, request);
    const startedAt = performance.now();
    const tellResponse = (status: number | undefined, error?: unknown, retryInMs?: number) =>
      tell(onResponse, {
        ...request,
        durationMs: performance.now() - startedAt,
        status,
        error: knownError(error),
        retryInMs,
      });
    try {
      const answer = await attempt(connection, outgoing);
      tellResponse(answer.status);
      return answer;
    } catch (error) {
      const wait = waitBeforeRetry(error, count, retries);
      tellResponse(statusOf(error), error, wait);
      if (wait === undefined) throw error;
      await pause(wait, signal);
    }
  }
}
