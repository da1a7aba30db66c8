/** What can go wrong with a call: the API refuses it, or no answer comes. */
import type { Schema } from "./operations.ts";

/** Every code with which the API refuses a call. */
export type ErrorCode = Schema<"Error">["code"];

/** An invalid field of the request, and the rule that it breaks. */
export type FieldFault = { readonly path: string; readonly message: string };

/** Codes of 4xx answers whose cause passes by itself; those of 429 are told by their status. */
const passing: ReadonlySet<string> = new Set<ErrorCode>(["request_timeout", "sandbox_cap_exceeded"]);

/** The rule of the API's specification, for answers without `x-should-retry`, such as those of a proxy in between. */
const isTransient = (status: number, code: string): boolean =>
  status === 429 || passing.has(code) || (status >= 500 && code !== "onchain_revert");

function shouldRetry(response: Response, code: string): boolean {
  const mark = response.headers.get("x-should-retry");
  return mark === null ? isTransient(response.status, code) : mark === "true";
}

/** Seconds of a `Retry-After`, which may also be a date; undefined where there is none. */
export function retryAfterOf(headers: Headers, now = Date.now()): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - now) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** The API answered with an error. `code` says which, `message` explains it to people. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "ApiError";
  readonly code: Code;
  readonly status: number;
  /** The invalid fields of `validation_error` and `invalid_permit`. */
  readonly details: readonly FieldFault[];
  /** Whether the same call may be sent again later: it does no harm, and may succeed. */
  readonly retryable: boolean;
  /** When to try again, in seconds; undefined where the API does not say. */
  readonly retryAfterSeconds: number | undefined;
  /** Names the request in the service's log. */
  readonly requestId: string | undefined;
  /** The `Idempotency-Key` of the call or order: the same one with this key never buys twice. Undefined where it has none. */
  idempotencyKey: string | undefined;

  constructor(
    body: { code: Code; message: string; details?: readonly FieldFault[] | null },
    response: Response,
    idempotencyKey?: string,
  ) {
    super(body.message);
    this.code = body.code;
    this.status = response.status;
    this.details = body.details ?? [];
    this.retryable = shouldRetry(response, body.code);
    this.retryAfterSeconds = retryAfterOf(response.headers);
    this.requestId = response.headers.get("x-request-id") ?? undefined;
    this.idempotencyKey = idempotencyKey;
  }
}

/** No answer came, or none of this API: the network, a proxy or a time-out is in between. `cause` has the reason. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** Whether the call may be sent again: nobody knows whether the lost one was carried out. */
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;
  /** See `ApiError`. */
  idempotencyKey: string | undefined;

  constructor(
    message: string,
    {
      retryable = true,
      retryAfterSeconds,
      idempotencyKey,
      ...options
    }: ErrorOptions & {
      retryable?: boolean;
      retryAfterSeconds?: number | undefined;
      idempotencyKey?: string | undefined;
    } = {},
  ) {
    super(message, options);
    this.retryable = retryable;
    this.retryAfterSeconds = retryAfterSeconds;
    this.idempotencyKey = idempotencyKey;
  }
}

/** Whether a failed call was refused with one of these codes. */
export const hasCode = <Code extends ErrorCode>(error: unknown, ...codes: Code[]): error is ApiError<Code> =>
  error instanceof ApiError && codes.some((code) => code === error.code);

/** Whether a permit was refused for this field. */
export const refusesPermit = (
  error: unknown,
  field: "value" | "signature",
): error is ApiError<"invalid_permit"> =>
  hasCode(error, "invalid_permit") && error.details.some(({ path }) => path === `permit.${field}`);

/** Whether the same call may be sent again later. */
export const isRetryable = (error: unknown): error is ApiError | ConnectionError =>
  (error instanceof ApiError || error instanceof ConnectionError) && error.retryable;

/** Names an order's key in a failure of any of its calls: those that prepare it are sent without the key. */
export function withKeyOfOrder(error: unknown, idempotencyKey: string): unknown {
  if (error instanceof ApiError || error instanceof ConnectionError) error.idempotencyKey = idempotencyKey;
  return error;
}
