/** EIP-4361 messages count only for the host, chain and wallet that they name, and only while they are valid. */
import { createSiweMessage } from "viem/siwe";
import { expect, test } from "vitest";
import { signInMessage } from "../../api/keys/sign-in-message.ts";
import { ApiError } from "../../lib/errors.ts";

const now = 1_767_225_600;
const at = (seconds: number) => new Date((now + seconds) * 1000);
const wallet = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const terms = { wallet, domain: "cover.example:8443", chainId: 8453 } as const;
const fields = {
  address: wallet,
  domain: terms.domain,
  chainId: terms.chainId,
  uri: "https://cover.example:8443/api-docs",
  version: "1",
  nonce: "5d1c0f6be27a94d3",
  issuedAt: at(0),
} as const;
const good = createSiweMessage(fields);

test.each([
  ["with the required fields alone", good],
  ["with a statement", createSiweMessage({ ...fields, statement: "Make an API key." })],
  ["with a scheme", createSiweMessage({ ...fields, scheme: "https" })],
  [
    "with every optional field",
    createSiweMessage({
      ...fields,
      statement: "Make a key.",
      expirationTime: at(60),
      notBefore: at(0),
      requestId: "7",
      resources: ["https://cover.example/terms", "ipfs://terms"],
    }),
  ],
  ["valid from a part of this second", createSiweMessage({ ...fields, notBefore: at(0.9) })],
  ["with whole seconds", good.replace("00.000Z", "00Z")],
  ["with a time zone", good.replace("2026-01-01T00:00:00.000Z", "2026-01-01T02:00:00+02:00")],
])("a message %s is the text to be signed, at its time of issue", (_, text) => {
  expect(signInMessage(text, terms, now)).toMatchObject({ texts: [text], at: now });
});

/** The code and the message of the refusal. */
function refusalOf(text: string): [code: string, message: string] {
  try {
    signInMessage(text, terms, now);
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.message];
    throw error;
  }
  throw new Error("the message was accepted");
}

const form = /message: must be an EIP-4361 message/;
test.each([
  ["empty", "", form],
  ["the service's own", `Service onboarding for ${wallet} at ${now}`, form],
  ["with a line before it", `\n${good}`, form],
  ["with a line after it", `${good}\nand more`, form],
  ["with line ends of Windows", good.replaceAll("\n", "\r\n"), form],
  ["without a nonce", good.replace(/Nonce: .*\n/, ""), form],
  ["with a short nonce", good.replace(fields.nonce, "1234567"), form],
  ["with its fields in another order", good.replace(/(Version.*\n)(Chain ID.*\n)/, "$2$1"), form],
  ["of version 2", good.replace("Version: 1", "Version: 2"), form],
  ["with an address in lowercase", good.replace(wallet, wallet.toLowerCase()), form],
  ["with a day without a time", good.replace("T00:00:00.000Z", ""), form],
  ["with a time that does not exist", good.replace("T00:00", "T25:00"), form],
  ["with a broken end", `${good}\nExpiration Time: later`, form],
  ["with a chain id in other digits", good.replace("8453", "08453"), form],
  [
    "of another wallet",
    createSiweMessage({ ...fields, address: "0x90F79bf6EB2c4f870365E785982E1f101E93b906" }),
    /must name the address 0x3C44/,
  ],
  ["for another host", createSiweMessage({ ...fields, domain: "evil.example:8443" }), /cover\.example:8443/],
  ["for another port", createSiweMessage({ ...fields, domain: "cover.example" }), /cover\.example:8443/],
  ["for another chain", createSiweMessage({ ...fields, chainId: 84532 }), /must have the Chain ID 8453/],
])("a message %s is an invalid body", (_, text, reason) => {
  expect(refusalOf(text)).toEqual(["invalid_body", expect.stringMatching(reason)]);
});

test.each([
  ["issued 301 s ago", { issuedAt: at(-301) }, /Issued At is more than 300 seconds/],
  ["issued in 301 s", { issuedAt: at(301) }, /Issued At is more than 300 seconds/],
  ["that has just expired", { expirationTime: at(0) }, /Expiration Time has passed/],
  ["that is not valid yet", { notBefore: at(1) }, /Not Before is in the future/],
])("a message %s has a stale timestamp", (_, more, reason) => {
  expect(refusalOf(createSiweMessage({ ...fields, ...more }))).toEqual([
    "stale_timestamp",
    expect.stringMatching(reason),
  ]);
});
