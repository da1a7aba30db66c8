import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { createSealer, newSecret, UnopenableSecret } from "../../../lib/webhooks/secrets.ts";
import { signatureHeaders } from "../../../workers/webhooks/signature.ts";

const WALLET = "0x00000000000000000000000000000000000000AA";
const sealer = createSealer("11".repeat(32));

test("a secret is 32 random bytes in hex, and opens after it was sealed", () => {
  const secret = newSecret();
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  const sealed = sealer.seal(secret, WALLET);
  expect(sealed).not.toContain(secret);
  expect(sealer.open(sealed, WALLET.toLowerCase())).toBe(secret);
  expect(sealer.seal(secret, WALLET)).not.toBe(sealed);
});

test("a sealed secret does not open with another key or wallet, or when damaged", () => {
  const sealed = sealer.seal("secret", WALLET);
  const bytes = Buffer.from(sealed.slice(3), "base64");
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  for (const open of [
    () => createSealer("22".repeat(32)).open(sealed, WALLET),
    () => sealer.open(sealed, WALLET.replace("AA", "bb")),
    () => sealer.open(`v1.${bytes.toString("base64")}`, WALLET),
    () => sealer.open(sealed.slice(0, 10), WALLET),
    () => sealer.open("secret", WALLET),
    () => sealer.open("", WALLET),
  ]) {
    expect(open).toThrow(UnopenableSecret);
  }
});

test("both signatures are HMACs keyed with the characters of the hex secret, the newest secret first", () => {
  const signed = {
    body: '{"id":"evt_1"}',
    secret: "ab".repeat(32),
    eventId: "evt_1",
    timestamp: 1_700_000_000,
  };
  const hmac = (secret: string, text: string, as: "hex" | "base64") =>
    createHmac("sha256", Buffer.from(secret, "utf8")).update(text).digest(as);
  const content = `evt_1.1700000000.${signed.body}`;
  expect(signatureHeaders(signed)).toEqual({
    "webhook-id": "evt_1",
    "webhook-timestamp": "1700000000",
    "webhook-signature": `v1,${hmac(signed.secret, content, "base64")}`,
    "x-service-signature": hmac(signed.secret, signed.body, "hex"),
  });
  const previousSecret = "cd".repeat(32);
  expect(signatureHeaders({ ...signed, previousSecret })).toMatchObject({
    "webhook-signature": `v1,${hmac(signed.secret, content, "base64")} v1,${hmac(previousSecret, content, "base64")}`,
    "x-service-signature": hmac(signed.secret, signed.body, "hex"),
    "x-service-signature-previous": hmac(previousSecret, signed.body, "hex"),
  });
});
