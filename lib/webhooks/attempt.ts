/** How one attempt to deliver an event ended; only an answer of 2xx within the time is `delivered`. */
export const attemptOutcomes = [
  "delivered",
  /** Any other status. */
  "refused",
  "timeout",
  /** No connection, or one that broke before the answer; also a certificate that does not fit. */
  "connection_failed",
  /** The address leads where no webhook may lead; nothing was sent. */
  "target_refused",
] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** One attempt as it is kept with its delivery. */
export type Attempt = {
  /** When it began, ISO 8601. */
  readonly at: string;
  readonly durationMs: number;
  readonly outcome: AttemptOutcome;
  /** HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  /** What went wrong, in words; null when it was delivered. */
  readonly error: string | null;
  /** The answer's first 2 kB as text; null when there was none. */
  readonly response: string | null;
};

/** Bytes of an answer that are kept. */
export const RESPONSE_BYTES = 2048;
