/** `verifyWebhook`, which subscribers use, against the headers that the writer signs. */
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  standardSecret,
  type VerificationFailure,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from "../../../lib/webhooks/receiver.mjs";
import { newSecret } from "../../../lib/webhooks/secrets.ts";
import { signatureHeaders } from "../../../workers/webhooks/signature.ts";

const secret = newSecret();
const former = newSecret();
const event = { id: "evt_1", type: "webhook_test", data: { webhookId: 1, message: "Grüße 🎉" } };
const body = JSON.stringify(event);
const timestamp = 1_767_225_600;
const now = timestamp * 1000;
const signed = { body, secret, eventId: event.id, timestamp };
const headers = signatureHeaders(signed);
const rotated = signatureHeaders({ ...signed, previousSecret: former });

const verify = (
  given: { body?: string | Uint8Array; headers?: WebhookHeaders; secrets?: string | string[] } = {},
  options: VerifyOptions = { now },
) => verifyWebhook(given.body ?? body, given.headers ?? headers, given.secrets ?? secret, options);

/** The reason and message of a failed verification. */
function refusal(work: () => unknown): [VerificationFailure, string] {
  try {
    work();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return [error.reason, error.message];
    throw error;
  }
  throw new Error("the request was accepted");
}

describe("a delivery is accepted", () => {
  test("in every supported type of headers and body", () => {
    const upper = Object.fromEntries(Object.entries(headers).map(([name, v]) => [name.toUpperCase(), v]));
    const listed = Object.fromEntries(Object.entries(headers).map(([name, v]) => [name, [v]]));
    for (const form of [headers, upper, listed, new Headers(headers)]) {
      expect(verify({ headers: form })).toEqual(event);
    }
    const bytes = Buffer.from(`..${body}..`);
    for (const form of [Buffer.from(body), new TextEncoder().encode(body), bytes.subarray(2, -2)]) {
      expect(verify({ body: form })).toEqual(event);
    }
    const whole = new TextEncoder().encode(body).buffer;
    expect(verifyWebhook(whole, headers, secret, { now })).toEqual(event);
  });

  test("with the secret in the form of Standard Webhooks", () => {
    const whsec = standardSecret(secret);
    expect(whsec).toBe(`whsec_${Buffer.from(secret).toString("base64")}`);
    expect(verify({ secrets: whsec })).toEqual(event);
    expect(verify({ secrets: standardSecret(whsec) })).toEqual(event);
  });

  test("with one of several secrets", () => {
    expect(verify({ secrets: [former, secret] })).toEqual(event);
    expect(refusal(() => verify({ secrets: [former, newSecret()] }))[0]).toBe("wrong_signature");
  });

  test("during a rotation with the new secret, the old one or both, and no other", () => {
    for (const secrets of [secret, former, [secret, former]]) {
      expect(verify({ headers: rotated, secrets })).toEqual(event);
    }
    expect(refusal(() => verify({ headers: rotated, secrets: newSecret() }))[0]).toBe("wrong_signature");
  });

  test("with additional signatures of other versions", () => {
    const more = `v2,abc ${headers["webhook-signature"]} v1a,xyz`;
    expect(verify({ headers: { ...headers, "webhook-signature": more } })).toEqual(event);
  });
});

describe("a request is refused", () => {
  const other = signatureHeaders({ ...signed, secret: former });
  const flipped = (text: string, at: number) =>
    `${text.slice(0, at)}${text[at] === "a" ? "b" : "a"}${text.slice(at + 1)}`;
  const standard = headers["webhook-signature"];
  const service = headers["x-service-signature"];

  test.each<[what: string, changes: Record<string, string | undefined>, reason: VerificationFailure]>([
    ["another id", { "webhook-id": "evt_2" }, "wrong_signature"],
    ["an id that contains the timestamp", { "webhook-id": `evt_1.${timestamp}` }, "wrong_signature"],
    ["another timestamp", { "webhook-timestamp": String(timestamp + 1) }, "wrong_signature"],
    ["a timestamp with a leading zero", { "webhook-timestamp": `0${timestamp}` }, "wrong_signature"],
    ["another signature", { "webhook-signature": flipped(standard, 10) }, "wrong_signature"],
    ["another last digit", { "webhook-signature": `${standard.slice(0, -2)}B=` }, "malformed_header"],
    ["another secret's signature", { "webhook-signature": other["webhook-signature"] }, "wrong_signature"],
    ["another body signature", { "x-service-signature": flipped(service, 0) }, "wrong_signature"],
    [
      "another secret's body signature",
      { "x-service-signature": other["x-service-signature"] },
      "wrong_signature",
    ],
    ["no id", { "webhook-id": undefined }, "missing_header"],
    ["an empty id", { "webhook-id": "" }, "missing_header"],
    ["no timestamp", { "webhook-timestamp": undefined }, "missing_header"],
    ["no signature", { "webhook-signature": undefined }, "missing_header"],
    ["no body signature", { "x-service-signature": undefined }, "missing_header"],
    ["a timestamp that is not a number", { "webhook-timestamp": "now" }, "malformed_header"],
    ["a timestamp with an exponent", { "webhook-timestamp": "1e9" }, "malformed_header"],
    ["a negative timestamp", { "webhook-timestamp": "-1" }, "malformed_header"],
    ["a short signature", { "webhook-signature": standard.slice(0, -4) }, "malformed_header"],
    ["a long signature", { "webhook-signature": `${standard}AAAA` }, "malformed_header"],
    ["a signature without a version", { "webhook-signature": standard.slice(3) }, "malformed_header"],
    ["a signature of another version", { "webhook-signature": `v2${standard.slice(2)}` }, "malformed_header"],
    ["an empty signature", { "webhook-signature": "v1," }, "malformed_header"],
    ["a short body signature", { "x-service-signature": service.slice(1) }, "malformed_header"],
    ["a long body signature", { "x-service-signature": `${service}00` }, "malformed_header"],
    ["a body signature that is not hex", { "x-service-signature": "z".repeat(64) }, "malformed_header"],
    ["a body signature in base64", { "x-service-signature": standard.slice(3) }, "malformed_header"],
    ["a previous signature that is not hex", { "x-service-signature-previous": "x" }, "malformed_header"],
  ])("with %s", (_, changes, reason) => {
    expect(refusal(() => verify({ headers: { ...headers, ...changes } }))[0]).toBe(reason);
  });

  test("with a changed body, also by a single space or byte", () => {
    for (const changed of [`${body} `, body.slice(0, -1), body.replace("1", "2"), ""]) {
      expect(refusal(() => verify({ body: changed }))[0]).toBe("wrong_signature");
    }
  });

  test("with another secret, or with the bytes that the secret encodes in hex", () => {
    expect(refusal(() => verify({ secrets: former }))[0]).toBe("wrong_signature");
    const decoded = `whsec_${Buffer.from(secret, "hex").toString("base64")}`;
    expect(refusal(() => verify({ secrets: decoded }))[0]).toBe("wrong_signature");
  });

  test("when only one of the two signatures is valid", () => {
    for (const name of ["webhook-signature", "x-service-signature"] as const) {
      const [reason, message] = refusal(() => verify({ headers: { ...headers, [name]: other[name] } }));
      expect([reason, message]).toEqual(["wrong_signature", expect.stringContaining(name)]);
    }
  });

  test("with a header twice", () => {
    for (const name of ["webhook-id", "x-service-signature"] as const) {
      const twice = { ...headers, [name]: [headers[name], headers[name]] };
      expect(refusal(() => verify({ headers: twice }))).toEqual([
        "malformed_header",
        `${name} was sent more than once`,
      ]);
      const inTwoCases = { ...headers, [name.toUpperCase()]: headers[name] };
      expect(refusal(() => verify({ headers: inTwoCases }))[0]).toBe("malformed_header");
    }
  });

  test.each([
    ["as old as the tolerance", 300, true],
    ["one second older", 301, false],
    ["as far in the future", -300, true],
    ["one second further in the future", -301, false],
  ])("when its timestamp is outside the tolerance: %s", (_, age, accepted) => {
    const options = { now: now + age * 1000 };
    if (accepted) expect(verify({}, options)).toEqual(event);
    else expect(refusal(() => verify({}, options))[0]).toBe("outside_tolerance");
  });

  test("outside a custom tolerance, by `Date.now()` by default", () => {
    expect(refusal(() => verify({}, { now: now + 2000, toleranceSeconds: 1 }))[0]).toBe("outside_tolerance");
    expect(verify({}, { now: now + 9_000_000, toleranceSeconds: 10_000 })).toEqual(event);
    expect(refusal(() => verify({}, {}))[0]).toBe("outside_tolerance");
    const fresh = signatureHeaders({ ...signed, timestamp: Math.floor(Date.now() / 1000) });
    expect(verify({ headers: fresh }, {})).toEqual(event);
    expect(refusal(() => verify({}, { now: Number.NaN }))[0]).toBe("outside_tolerance");
  });

  test("when the signed body is not JSON", () => {
    const noJson = { ...signed, body: "hello" };
    expect(refusal(() => verify({ body: "hello", headers: signatureHeaders(noJson) }))[0]).toBe("not_json");
  });
});

test("invalid arguments throw a TypeError", () => {
  expect(() => verify({ secrets: [] })).toThrow(TypeError);
  expect(() => verify({ secrets: "" })).toThrow(TypeError);
  expect(() => verify({ secrets: "whsec_" })).toThrow(TypeError);
  const parsed: unknown = event;
  // @ts-expect-error a parsed body
  expect(() => verifyWebhook(parsed, headers, secret)).toThrow(/not what was parsed/);
  // @ts-expect-error no headers
  expect(() => verifyWebhook(body, null, secret)).toThrow(TypeError);
});

test("accepts the signatures of the API specification, computed in the test", () => {
  const hmac = (content: string) => createHmac("sha256", Buffer.from(secret, "utf8")).update(content);
  const byHand = {
    "Webhook-Id": "evt_1",
    "Webhook-Timestamp": String(timestamp),
    "Webhook-Signature": `v1,${hmac(`evt_1.${timestamp}.${body}`).digest("base64")}`,
    "X-Service-Signature": hmac(body).digest("hex"),
  };
  expect(verify({ headers: byHand })).toEqual(event);
});

test("the package exports it", async () => {
  const exported = await import("parametric-cover-service/webhooks");
  expect(exported.verifyWebhook(body, headers, secret, { now })).toEqual(event);
});
