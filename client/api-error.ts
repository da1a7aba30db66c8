/** What can go wrong with a call: the API refuses it, or no answer comes. */
import type { Schema } from "./operations.ts";

/** Every code with which the API refuses a call. */
export type ErrorCode = Schema<"Error">["code"];

/** An invalid field of the request, and the rule that it breaks. */
export type FieldFault = { readonly path: string; readonly message: string };

/** The API answered with an error. `code` says which, `message` explains it to people. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "ApiError";
  readonly code: Code;
  readonly status: number;
  /** The invalid fields of `validation_error` and `invalid_permit`. */
  readonly details: readonly FieldFault[];
  /** When to try again, in seconds; undefined where the API does not say. */
  readonly retryAfterSeconds: number | undefined;
  /** Names the request in the service's log. */
  readonly requestId: string | undefined;

  constructor(
    body: { code: Code; message: string; details: readonly FieldFault[] | null },
    response: Response,
  ) {
    super(body.message);
    const retryAfter = response.headers.get("retry-after");
    this.code = body.code;
    this.status = response.status;
    this.details = body.details ?? [];
    this.retryAfterSeconds = retryAfter === null ? undefined : Number(retryAfter);
    this.requestId = response.headers.get("x-request-id") ?? undefined;
  }
}

/** No answer came, or none of this API: the network, a proxy or a time-out is in between. `cause` has the reason. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/** Whether a failed call was refused with one of these codes. */
export const hasCode = <Code extends ErrorCode>(error: unknown, ...codes: Code[]): error is ApiError<Code> =>
  error instanceof ApiError && codes.some((code) => code === error.code);
