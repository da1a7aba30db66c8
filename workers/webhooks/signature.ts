import { createHmac, type KeyObject } from "node:crypto";

/**
 * The headers that authenticate an attempt. The key of each HMAC is the UTF-8 bytes of the hex secret. `X-Service-Signature`
 * covers the body alone; `webhook-signature` (Standard Webhooks) covers the event's id, the attempt's time and the body, so
 * that an old request cannot be replayed.
 */

/** The hex secret, or a key object of its bytes, which is faster for repeated use. */
export type SigningKey = string | KeyObject;

export type SigningSecrets = {
  readonly secret: SigningKey;
  /** The secret before a rotation, while it still signs. */
  readonly previousSecret?: SigningKey | undefined;
};

export type SignatureInput = SigningSecrets & {
  /** The body that is sent, byte for byte. */
  readonly body: string;
  readonly eventId: string;
  /** The time of the attempt, in Unix seconds. */
  readonly timestamp: number;
};

export type SignatureHeaders = {
  "webhook-id": string;
  "webhook-timestamp": string;
  /** One `v1,<base64>` for each secret, separated by a space; the newest secret's first. */
  "webhook-signature": string;
  "x-service-signature": string;
  "x-service-signature-previous"?: string;
};

/** Hex of HMAC-SHA256 over the body: `X-Service-Signature`. */
const bodySignature = (body: string, secret: SigningKey): string =>
  createHmac("sha256", secret).update(body).digest("hex");

const standardSignature = (content: string, secret: SigningKey) =>
  `v1,${createHmac("sha256", secret).update(content).digest("base64")}`;

/** The signature headers of one attempt. */
export function signatureHeaders(input: SignatureInput): SignatureHeaders {
  const { body, secret, previousSecret, eventId, timestamp } = input;
  const content = `${eventId}.${timestamp}.${body}`;
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret];
  return {
    "webhook-id": eventId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets.map((one) => standardSignature(content, one)).join(" "),
    "x-service-signature": bodySignature(body, secret),
    ...(previousSecret === undefined
      ? {}
      : { "x-service-signature-previous": bodySignature(body, previousSecret) }),
  };
}

/** One event for one receiver, with its signature headers. */
export type SignedRequest = {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** An event, and the trace of the purchase that caused it. */
type EventToSend = Pick<SignatureInput, "eventId" | "body"> & { readonly traceparent?: string | null };

/** Signs an event with the present time; an event with a trace also gets the header `traceparent`. */
export const signRequest = (
  url: string,
  { eventId, body, traceparent = null }: EventToSend,
  secrets: SigningSecrets,
): SignedRequest => {
  const timestamp = Math.floor(Date.now() / 1000);
  const signed = signatureHeaders({ ...secrets, body, eventId, timestamp });
  return { url, body, headers: traceparent === null ? signed : { ...signed, traceparent } };
};
