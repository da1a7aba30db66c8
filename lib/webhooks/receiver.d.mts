/** For subscribers: verifies that a request is an authentic and recent delivery of this service. */

/** Why verification failed. Answer 401 or 400: the service sends the event again. */
export type VerificationFailure =
  /** `webhook-id`, `webhook-timestamp`, `webhook-signature` or `X-Service-Signature` is missing. */
  | "missing_header"
  /** A header is malformed, or was sent twice. */
  | "malformed_header"
  /** No secret yields the signature for this body, id and timestamp. */
  | "wrong_signature"
  /** The timestamp is too old or too far in the future: a replayed request, or a wrong clock. */
  | "outside_tolerance"
  /** The signature is valid, but the body is not JSON. */
  | "not_json";

export class WebhookVerificationError extends Error {
  readonly name: "WebhookVerificationError";
  readonly reason: VerificationFailure;
  constructor(reason: VerificationFailure, message: string);
}

/** A delivered event; the API's OpenAPI document describes `data` for each `type`. */
export type WebhookEvent = {
  /** The same in every delivery of the event: store the ids that you have processed, and ignore repetitions. */
  readonly id: string;
  readonly type: string;
  readonly version: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly chainId: number;
  readonly blockNumber: string | null;
  readonly blockHash: string | null;
  readonly txHash: string | null;
  readonly data: Readonly<Record<string, unknown>>;
};

/** The headers of a request from Node, `fetch` or a framework; names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerifyOptions = {
  /** How far the request's timestamp may be in the past or future, in seconds; 300 by default. */
  toleranceSeconds?: number;
  /** The present time in ms since the epoch; `Date.now()` by default. */
  now?: number;
};

/**
 * Verifies `X-Service-Signature` (or `-Previous`) and `webhook-signature`, and returns the request's event. During a rotation
 * either of the two secrets is enough, and both may be given. Signatures are compared in constant time.
 *
 * @param body the raw bytes or text of the body; a body that was parsed and serialised again has another signature
 * @param secrets as the service issued it (64 hex digits), or in the `whsec_` form of Standard Webhooks
 * @throws {WebhookVerificationError} with the reason; a `TypeError` for invalid arguments, such as an empty secret
 *
 * @example
 * const event = verifyWebhook(rawBody, request.headers, process.env.WEBHOOK_SECRET);
 */
export function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options?: VerifyOptions,
): WebhookEvent;

/** Converts a secret to the form of Standard Webhooks libraries: `whsec_` and base64. */
export function standardSecret(secret: string): string;
