/** The outcome of one delivery attempt: a response with status 2xx within the timeout is `delivered`. */
export const attemptOutcomes = [
  "delivered",
  /** A response with any other status. */
  "refused",
  "timeout",
  /** No connection, a connection lost before the response, or an invalid certificate. */
  "connection_failed",
  /** Nothing was sent: the target guard refused the address, or an unverified subscription has had its calls of the hour. */
  "target_refused",
] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** One attempt, as its delivery stores it. */
export type Attempt = {
  /** Start time, ISO 8601. */
  readonly at: string;
  readonly durationMs: number;
  readonly outcome: AttemptOutcome;
  /** HTTP status; null without a response. */
  readonly status: number | null;
  /** Describes the failure; null when delivered. */
  readonly error: string | null;
  /** The first 2 kB of the response body as text; null without a response. */
  readonly response: string | null;
};

/** Stored bytes of a response body. */
export const RESPONSE_BYTES = 2048;
