import { createHmac, type KeyObject } from "node:crypto";

/**
 * The headers by which a receiver knows that an attempt is ours. The key of each HMAC is the hex secret's UTF-8 bytes.
 * `X-Service-Signature` is over the body alone; `webhook-signature` (Standard Webhooks) is over the event's id, the
 * attempt's time and the body, so that an old request cannot be sent again by somebody else.
 */

/** The hex secret, or for who signs often a key that was made of its bytes once. */
export type SigningKey = string | KeyObject;

export type Signed = {
  /** The very bytes that are sent. */
  readonly body: string;
  readonly secret: SigningKey;
  /** The one before a rotation, while it still signs. */
  readonly previousSecret?: SigningKey | undefined;
  readonly eventId: string;
  /** When the attempt is made, in Unix seconds. */
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

const standard = (content: string, secret: SigningKey) =>
  `v1,${createHmac("sha256", secret).update(content).digest("base64")}`;

/** The signature headers of one attempt. */
export function signatureHeaders(signed: Signed): SignatureHeaders {
  const { body, secret, previousSecret, eventId, timestamp } = signed;
  const content = `${eventId}.${timestamp}.${body}`;
  const secrets = previousSecret === undefined ? [secret] : [secret, previousSecret];
  return {
    "webhook-id": eventId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets.map((one) => standard(content, one)).join(" "),
    "x-service-signature": bodySignature(body, secret),
    ...(previousSecret === undefined
      ? {}
      : { "x-service-signature-previous": bodySignature(body, previousSecret) }),
  };
}
