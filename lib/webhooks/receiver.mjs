/**
 * For subscribers: verifies that a request is an authentic and recent delivery of this service. It depends on Node alone, and
 * subscribers may copy the file. `receiver.d.mts` has its types and documentation.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** The default tolerance of a request's timestamp, in seconds. Older requests may be replays. */
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
  const header = headerReader(headers);

  const id = required(header, ID);
  const timestamp = required(header, TIMESTAMP);
  const standard = standardSignatures(required(header, STANDARD));
  const service = [serviceSignature(SERVICE, required(header, SERVICE))];
  const previous = header(SERVICE_PREVIOUS);
  if (previous !== undefined) service.push(serviceSignature(SERVICE_PREVIOUS, previous));

  if (!/^\d{1,15}$/.test(timestamp)) throw malformed(`${TIMESTAMP} is not a Unix time in seconds`);
  // X-Service-Signature covers the body alone; webhook-signature covers the id, the timestamp and the body.
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), bytes]);
  if (!matches(keys, signed, standard)) throw wrong(STANDARD);
  if (!matches(keys, bytes, service)) throw wrong(SERVICE);
  // Check the age last: only a signed timestamp can show that a clock is wrong.
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

/** The key of the HMAC: the secret's characters, or the bytes that its `whsec_` form encodes. */
function keyOf(secret) {
  if (typeof secret !== "string" || secret === "")
    throw new TypeError("a secret must be a string and not empty");
  if (!secret.startsWith("whsec_")) return Buffer.from(secret, "utf8");
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  if (key.length === 0) throw new TypeError("base64 must follow whsec_ in a secret");
  return key;
}

function bytesOf(body) {
  if (typeof body === "string") return Buffer.from(body, "utf8");
  if (body instanceof ArrayBuffer) return Buffer.from(body);
  if (ArrayBuffer.isView(body)) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError("the body must be the raw bytes or text, not what was parsed from them");
}

/** Returns a function that reads a header by its lower-case name, from `Headers` or from an object with names in any case. */
function headerReader(headers) {
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

/** The `v1` signatures, without those of other versions. */
function standardSignatures(text) {
  const signatures = text
    .split(" ")
    .filter((entry) => entry.startsWith("v1,"))
    .map((entry) => entry.slice("v1,".length));
  // 32 bytes in canonical base64.
  if (
    signatures.length === 0 ||
    !signatures.every((entry) => /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(entry))
  ) {
    throw malformed(`${STANDARD} has no valid v1 signature: 32 bytes in base64`);
  }
  return signatures.map((entry) => Buffer.from(entry, "base64"));
}

/** Whether one of the keys made one of the signatures. It compares all of them, in constant time. */
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
    throw new WebhookVerificationError("not_json", "the body is not JSON");
  }
}
