/** What the faucet is sent that is no claim: each is refused in the documented shape, and none takes anything up. */
import { beforeAll, describe, expect, test } from "vitest";
import { failure, messageOf } from "./support/api.ts";
import { CLAIM, type FaucetWorld, newWallet, startFaucet } from "./support/faucet.ts";

let world: FaucetWorld;
beforeAll(async () => {
  world = await startFaucet();
});

const good = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const hex = (digits: number) => `0x${"a".repeat(digits)}`;
const wallets: [string, unknown][] = [
  ["null", null],
  ["a number", 12],
  ["a large number", 1e300],
  ["a fraction", 0.5],
  ["zero", 0],
  ["true", true],
  ["a list", [good]],
  ["an empty list", []],
  ["an object", { address: good }],
  ["nothing", undefined],
  ["an empty text", ""],
  ["a blank", " "],
  ["0x", "0x"],
  ["39 digits", hex(39)],
  ["41 digits", hex(41)],
  ["64 digits", hex(64)],
  ["a megabyte but for a little", hex(1_000_000)],
  ["no 0x", "a".repeat(40)],
  ["0X", `0X${"a".repeat(40)}`],
  ["a digit that is none", `0x${"g".repeat(40)}`],
  ["a blank ahead", ` ${good}`],
  ["a blank behind", `${good} `],
  ["a line's end behind", `${good}\n`],
  ["a zero byte", `${good}\u0000`],
  ["a zero byte within", `0x${"a".repeat(20)}\u0000${"a".repeat(19)}`],
  ["full-width digits", `0x${"１".repeat(40)}`],
  ["a lone surrogate", "0x\ud800"],
  ["two wallets", `${good},${good}`],
  ["a name", "vitalik.eth"],
  ["SQL", "0x'; drop table service.faucet_claim; --"],
  ["a template", "{{7*7}}"],
  ["the zero address", `0x${"0".repeat(40)}`],
];

const bodies: [string, string][] = [
  ["nothing at all", ""],
  ["a blank", " "],
  ["half an object", "{"],
  ["an object that ends early", `{"wallet":"${good}"`],
  ["no value", '{"wallet":}'],
  ["a comma too many", `{"wallet":"${good}",}`],
  ["single quotes", `{'wallet':'${good}'}`],
  ["no quotes", `{wallet:"${good}"}`],
  ["undefined", "undefined"],
  ["NaN", "NaN"],
  ["null", "null"],
  ["a number", "1"],
  ["a text", `"${good}"`],
  ["a list", `[{"wallet":"${good}"}]`],
  ["an empty list", "[]"],
  ["an empty object", "{}"],
  ["true", "true"],
  ["another field", `{"address":"${good}"}`],
  ["the field in capitals", `{"WALLET":"${good}"}`],
  ["a prototype", `{"__proto__":{"wallet":"${good}"}}`],
  ["a constructor", `{"constructor":{"prototype":{"wallet":"${good}"}}}`],
  ["a form", `wallet=${good}`],
  ["XML", `<wallet>${good}</wallet>`],
  ["two objects", `{"wallet":"${good}"}{"wallet":"${good}"}`],
  ["two wallets, the last of them none", `{"wallet":"${good}","wallet":1}`],
  ["a deep nest", "[".repeat(10_000) + "]".repeat(10_000)],
  ["a deep wallet", `{"wallet":${"[".repeat(5000)}${"]".repeat(5000)}}`],
  ["a byte order mark alone", "\ufeff"],
  ["a zero byte", "\u0000"],
  ["a broken escape", '{"wallet":"\\u12"}'],
  ["a number without end", `{"wallet":${"9".repeat(100_000)}}`],
];

const nothingTaken = async () => {
  const [row] = await world.sql`
    select (select count(*)::int from service.faucet_slot) as slots, (select count(*)::int from service.faucet_claim) as claims`;
  expect(row).toEqual({ slots: 0, claims: 0 });
};

describe("400 invalid_request", () => {
  test.each(wallets)("for a wallet that is %s, and the message names the field", async (_, wallet) => {
    const answer = await world.request(CLAIM, { body: { wallet } });
    expect(failure(answer)).toEqual([400, "invalid_request"]);
    expect(messageOf(answer)).toContain("wallet: ");
    expect(messageOf(answer).length).toBeLessThan(1000);
  });

  test.each(bodies)("for a body that is %s", async (_, rawBody) => {
    const answer = await world.request(CLAIM, { rawBody, headers: { "content-type": "application/json" } });
    expect(failure(answer)).toEqual([400, "invalid_request"]);
    await nothingTaken();
  });

  test("for no body and no content type", async () => {
    expect(failure(await world.request(CLAIM, { method: "POST" }))).toEqual([400, "invalid_request"]);
  });

  test("for broken JSON however its content type is spelt", async () => {
    for (const type of ["APPLICATION/JSON", "application/json; charset=utf-8", "application/problem+json"]) {
      const answer = await world.request(CLAIM, { rawBody: "{", headers: { "content-type": type } });
      expect(failure(answer)).toEqual([400, "invalid_request"]);
    }
  });

  test("for each contract of the protocol", async () => {
    for (const [name, address] of Object.entries(world.testnet.deployment.contracts)) {
      const answer = await world.request(CLAIM, { body: { wallet: address.toLowerCase() } });
      expect(failure(answer)).toEqual([400, "invalid_request"]);
      expect(messageOf(answer)).toContain(name);
    }
    await nothingTaken();
  });
});

describe("others", () => {
  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/octet-stream",
    "x",
  ])("a body that is said to be %s is 415", async (type) => {
    const rawBody = JSON.stringify({ wallet: newWallet() });
    const answer = await world.request(CLAIM, { rawBody, headers: { "content-type": type } });
    expect(failure(answer)).toEqual([415, "unsupported_media_type"]);
  });

  test("more than a mebibyte is 413", async () => {
    const answer = await world.request(CLAIM, { body: { wallet: hex(1_100_000) } });
    expect(failure(answer)).toEqual([413, "payload_too_large"]);
  });

  test.each(["GET", "PUT", "DELETE", "PATCH"])("%s is 405, with the method that it takes", async (method) => {
    const answer = await world.request(CLAIM, { method });
    expect(failure(answer)).toEqual([405, "method_not_allowed"]);
    expect(answer.headers.get("allow")).toContain("POST");
    await nothingTaken();
  });

  test("fields that nobody asked for change nothing: the grant is the grant, and the chain the testnet", async () => {
    const wallet = newWallet();
    const body = { wallet, amount: "1000000", usdcAmount: "1", chainId: 8453, client: "1.2.3.4", from: good };
    const answer = await world.request(`${CLAIM}?wallet=${good}&amount=5`, {
      body,
      headers: { "x-forwarded-for": "192.0.2.1" },
    });
    expect(answer.json).toMatchObject({ ethAmount: "0.05", usdcAmount: "10000" });
    const [errand] =
      await world.sql`select "to", value::text from service.errand where purpose = 'faucet_ether'`;
    expect(errand).toEqual({ to: wallet.toLowerCase(), value: "50000000000000000" });
  });
});
