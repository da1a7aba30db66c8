/** Invalid claims: each gets the documented error, and none creates a claim or starts a limit. */
import { describe, expect, test } from "vitest";
import { failure, messageOf } from "./api.ts";
import { CLAIM, newWallet, type TestFaucet } from "./faucet.ts";

const good = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const hex = (digits: number) => `0x${"a".repeat(digits)}`;
const wallets: [string, unknown][] = [
  ["null", null],
  ["a number", 12],
  ["a number above all integers", 1e300],
  ["a number with a fraction", 0.5],
  ["zero", 0],
  ["true", true],
  ["a list", [good]],
  ["an empty list", []],
  ["an object", { address: good }],
  ["missing", undefined],
  ["an empty string", ""],
  ["a space", " "],
  ["0x", "0x"],
  ["39 digits long", hex(39)],
  ["41 digits long", hex(41)],
  ["64 digits long", hex(64)],
  ["almost 64 KiB long", hex(60_000)],
  ["without 0x", "a".repeat(40)],
  ["with 0X", `0X${"a".repeat(40)}`],
  ["with characters that are not hex", `0x${"g".repeat(40)}`],
  ["with a leading space", ` ${good}`],
  ["with a trailing space", `${good} `],
  ["with a trailing newline", `${good}\n`],
  ["with a trailing zero byte", `${good}\u0000`],
  ["with a zero byte inside", `0x${"a".repeat(20)}\u0000${"a".repeat(19)}`],
  ["of full-width digits", `0x${"１".repeat(40)}`],
  ["a lone surrogate", "0x\ud800"],
  ["two wallets", `${good},${good}`],
  ["an ENS name", "vitalik.eth"],
  ["SQL", "0x'; drop table service.faucet_claim; --"],
  ["a template", "{{7*7}}"],
  ["the zero address", `0x${"0".repeat(40)}`],
];

const bodies: [string, string][] = [
  ["empty", ""],
  ["a space", " "],
  ["half an object", "{"],
  ["an object without closing brace", `{"wallet":"${good}"`],
  ["an object without value", '{"wallet":}'],
  ["an object with a trailing comma", `{"wallet":"${good}",}`],
  ["an object with single quotes", `{'wallet':'${good}'}`],
  ["an object with an unquoted field", `{wallet:"${good}"}`],
  ["undefined", "undefined"],
  ["NaN", "NaN"],
  ["null", "null"],
  ["a number", "1"],
  ["a string", `"${good}"`],
  ["a list", `[{"wallet":"${good}"}]`],
  ["an empty list", "[]"],
  ["an empty object", "{}"],
  ["true", "true"],
  ["an object with another field", `{"address":"${good}"}`],
  ["an object with the field in capitals", `{"WALLET":"${good}"}`],
  ["an object that sets its prototype", `{"__proto__":{"wallet":"${good}"}}`],
  ["an object that sets its constructor", `{"constructor":{"prototype":{"wallet":"${good}"}}}`],
  ["form data", `wallet=${good}`],
  ["XML", `<wallet>${good}</wallet>`],
  ["two objects", `{"wallet":"${good}"}{"wallet":"${good}"}`],
  ["an object with two wallets, the last one invalid", `{"wallet":"${good}","wallet":1}`],
  ["10,000 nested arrays", "[".repeat(10_000) + "]".repeat(10_000)],
  ["a wallet of 5,000 nested arrays", `{"wallet":${"[".repeat(5000)}${"]".repeat(5000)}}`],
  ["only a byte order mark", "\ufeff"],
  ["a zero byte", "\u0000"],
  ["an object with a broken escape", '{"wallet":"\\u12"}'],
  ["a wallet of 60,000 digits", `{"wallet":${"9".repeat(60_000)}}`],
];

/** The only claim is that of the last test: these tests must be the first of their faucet. */
export function faucetInput(faucet: () => TestFaucet): void {
  const expectNoClaim = async () => {
    const [row] = await faucet().sql`
    select (select count(*)::int from service.faucet_slot) as slots, (select count(*)::int from service.faucet_claim) as claims`;
    expect(row).toEqual({ slots: 0, claims: 0 });
  };

  describe("invalid_request", () => {
    test.each(wallets)("a wallet that is %s gets 400 with the field's name", async (_, wallet) => {
      const answer = await faucet().request(CLAIM, { body: { wallet } });
      expect(failure(answer)).toEqual([400, "invalid_request"]);
      expect(messageOf(answer)).toContain("wallet: ");
      expect(messageOf(answer).length).toBeLessThan(1000);
    });

    test.each(bodies)("a body that is %s gets 400", async (_, rawBody) => {
      const answer = await faucet().request(CLAIM, {
        rawBody,
        headers: { "content-type": "application/json" },
      });
      expect(failure(answer)).toEqual([400, "invalid_request"]);
      await expectNoClaim();
    });

    test("no body and no content type get 400", async () => {
      expect(failure(await faucet().request(CLAIM, { method: "POST" }))).toEqual([400, "invalid_request"]);
    });

    test("broken JSON gets 400 with every spelling of the JSON content type", async () => {
      for (const type of [
        "APPLICATION/JSON",
        "application/json; charset=utf-8",
        "application/problem+json",
      ]) {
        const answer = await faucet().request(CLAIM, { rawBody: "{", headers: { "content-type": type } });
        expect(failure(answer)).toEqual([400, "invalid_request"]);
      }
    });

    test("the address of a protocol contract gets 400 with the contract's name", async () => {
      for (const [name, address] of Object.entries(faucet().testnet.deployment.contracts)) {
        const answer = await faucet().request(CLAIM, { body: { wallet: address.toLowerCase() } });
        expect(failure(answer)).toEqual([400, "invalid_request"]);
        expect(messageOf(answer)).toContain(name);
      }
      await expectNoClaim();
    });
  });

  describe("other requests", () => {
    test.each([
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "application/octet-stream",
      "x",
    ])("the content type %s gets 415", async (type) => {
      const rawBody = JSON.stringify({ wallet: newWallet() });
      const answer = await faucet().request(CLAIM, { rawBody, headers: { "content-type": type } });
      expect(failure(answer)).toEqual([415, "unsupported_media_type"]);
    });

    test("a body larger than 64 KiB gets 413", async () => {
      const answer = await faucet().request(CLAIM, { body: { wallet: hex(70_000) } });
      expect(failure(answer)).toEqual([413, "payload_too_large"]);
    });

    test.each(["GET", "PUT", "DELETE", "PATCH"])("%s gets 405 with the allowed method", async (method) => {
      const answer = await faucet().request(CLAIM, { method });
      expect(failure(answer)).toEqual([405, "method_not_allowed"]);
      expect(answer.headers.get("allow")).toContain("POST");
      await expectNoClaim();
    });

    test("an unknown field or query parameter gets 400 with its name, and nothing is claimed", async () => {
      for (const [path, more] of [
        [CLAIM, { usdcAmount: "1" }],
        [`${CLAIM}?usdcAmount=5`, {}],
      ] as const) {
        const answer = await faucet().request(path, { body: { wallet: newWallet(), ...more } });
        expect(failure(answer)).toEqual([400, "invalid_request"]);
        expect(messageOf(answer)).toContain("usdcAmount: is unknown");
      }
      await expectNoClaim();
    });
  });
}
