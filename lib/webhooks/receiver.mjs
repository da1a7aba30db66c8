/**
 * For subscribers: tells whether a request is a delivery of this service, unchanged and of now. It needs nothing but Node,
 * and may be copied as it stands. The types and their words are in `receiver.d.mts`.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** A request from longer ago, or as far in the future, is refused: somebody may send an old one again. In seconds. */
const TOLERANCE_SECONDS = 300;

const ID = "webhook-id";
const TIMESTAMP = "webhook-timestamp";
const STANDARD = "webhook-signature";
const SERVICE = "x-service-signature";
const SERVICE_PREVIOUS = "x-service-signature-previous";

export class WebhookVerificationError extends Error {
  constructor(reason, message) {
    super(message);
    this.name = "WebhookVerificationError";
    this.reason = reason;
  }
}

export function verifyWebhook(body, headers, secrets, options = {}) {
  const { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() } = options;
  const keys = (Array.isArray(secrets) ? secrets : [secrets]).map(keyOf);
  if (keys.length === 0) throw new TypeError("verifyWebhook needs a secret");
  const bytes = bytesOf(body);
  const header = readerOf(headers);

  const id = required(header, ID);
  const timestamp = required(header, TIMESTAMP);
  const standard = standardSignatures(required(header, STANDARD));
  const service = [serviceSignature(SERVICE, required(header, SERVICE))];
  const previous = header(SERVICE_PREVIOUS);
  if (previous !== undefined) service.push(serviceSignature(SERVICE_PREVIOUS, previous));

  if (!/^\d{1,15}$/.test(timestamp)) throw malformed(`${TIMESTAMP} is not in Unix seconds`);
  // One of the secrets has signed both ways: the body alone, and the body with the event's id and the time.
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), bytes]);
  if (!matches(keys, signed, standard)) throw wrong(STANDARD);
  if (!matches(keys, bytes, service)) throw wrong(SERVICE);
  // After the signatures, so that the reason tells of our clock and not of a forger's.
  const age = now / 1000 - Number(timestamp);
  if (!(Math.abs(age) <= toleranceSeconds)) {
    const seconds = Math.round(Math.abs(age));
    throw new WebhookVerificationError(
      "outside_tolerance",
      `the request was made ${seconds} seconds ${age > 0 ? "ago" : "from now"}; it may be a copy of an old one`,
    );
  }
  return parse(bytes);
}

export function standardSecret(secret) {
  return `whsec_${keyOf(secret).toString("base64")}`;
}

const malformed = (message) => new WebhookVerificationError("malformed_header", message);
const wrong = (name) =>
  new WebhookVerificationError("wrong_signature", `${name} was not made with this secret for this request`);

/** The HMAC's key: the secret's characters as they were shown, or those that the `whsec_` form holds. */
function keyOf(secret) {
  if (typeof secret !== "string" || secret === "") throw new TypeError("a secret must be a text");
  if (!secret.startsWith("whsec_")) return Buffer.from(secret, "utf8");
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  if (key.length === 0) throw new TypeError("a secret that begins with whsec_ must go on in base64");
  return key;
}

function bytesOf(body) {
  if (typeof body === "string") return Buffer.from(body, "utf8");
  if (body instanceof ArrayBuffer) return Buffer.from(body);
  if (ArrayBuffer.isView(body)) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError("the body must be the bytes or the text that arrived, not what was parsed out of them");
}

/** Reads headers by their names in lower case, out of `Headers` or an object in whatever case. */
function readerOf(headers) {
  if (typeof headers?.get === "function") return (name) => headers.get(name) ?? undefined;
  if (typeof headers !== "object" || headers === null) throw new TypeError("the headers must be an object");
  const entries = Object.entries(headers).filter(([, value]) => value !== undefined);
  return (name) => {
    const values = entries.filter(([key]) => key.toLowerCase() === name).flatMap(([, value]) => value);
    if (values.length > 1) throw malformed(`${name} was sent more than once`);
    return values[0];
  };
}

function required(header, name) {
  const value = header(name);
  if (typeof value === "string" && value !== "") return value;
  throw new WebhookVerificationError("missing_header", `${name} is missing`);
}

function serviceSignature(name, text) {
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw malformed(`${name} is not 64 hex digits`);
  return Buffer.from(text, "hex");
}

/** The `v1` signatures; those of other versions may stand beside them, and tell nothing here. */
function standardSignatures(text) {
  const signatures = text
    .split(" ")
    .filter((entry) => entry.startsWith("v1,"))
    .map((entry) => entry.slice("v1,".length));
  // 32 bytes have this form in base64, and no other.
  if (
    signatures.length === 0 ||
    !signatures.every((entry) => /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(entry))
  ) {
    throw malformed(`${STANDARD} is not v1, and 32 bytes in base64`);
  }
  return signatures.map((entry) => Buffer.from(entry, "base64"));
}

/** Whether one of the keys has made one of the signatures; all are compared, in a time that tells nothing. */
function matches(keys, content, signatures) {
  let found = false;
  for (const key of keys) {
    const expected = createHmac("sha256", key).update(content).digest();
    for (const signature of signatures) {
      if (timingSafeEqual(signature, expected)) found = true;
    }
  }
  return found;
}

function parse(bytes) {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new WebhookVerificationError("not_json", "the body is no JSON");
  }
}
