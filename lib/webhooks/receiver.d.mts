/** For subscribers: tells whether a request is a delivery of this service, unchanged and of now. */

/** Why a request is refused. Answer 401 or 400; the service will send the event again. */
export type VerificationFailure =
  /** One of `webhook-id`, `webhook-timestamp`, `webhook-signature`, `X-Service-Signature` is not there. */
  | "missing_header"
  /** A header that is there cannot be read, or stands there twice. */
  | "malformed_header"
  /** None of the secrets has signed this body with this id and time. */
  | "wrong_signature"
  /** Signed too long ago, or too far in the future: a copy of an old request, or a clock that is wrong. */
  | "outside_tolerance"
  /** Signed, and still no JSON. */
  | "not_json";

export class WebhookVerificationError extends Error {
  readonly name: "WebhookVerificationError";
  readonly reason: VerificationFailure;
  constructor(reason: VerificationFailure, message: string);
}

/** A delivered event; what `data` holds for each `type` stands in the API's description. */
export type WebhookEvent = {
  /** The same for each delivery of the event: keep those that you have seen. */
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

/** The headers of a request, as Node, `fetch` or a framework gives them; names count in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerifyOptions = {
  /** How far the request's time may lie from now, in seconds, either way; 300 when left out. */
  toleranceSeconds?: number;
  /** Ms since the epoch; the clock's when left out. */
  now?: number;
};

/**
 * The event in a request whose `X-Service-Signature` (or `-Previous`) and `webhook-signature` were made with the secret.
 * During a rotation either of the two secrets will do, and both may be given. Signatures are compared in constant time.
 *
 * @param body the bytes, or the text, of the body as it arrived: what was parsed and printed again is another text
 * @param secrets as the service has shown it (64 hex digits), or in the `whsec_` form of Standard Webhooks
 * @throws {WebhookVerificationError} with the reason; a `TypeError` for arguments that no request can mend
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

/** The secret in the form in which libraries for Standard Webhooks take it: `whsec_` and base64. */
export function standardSecret(secret: string): string;
