/** Every kind of body of a sandbox call: it buys, or gets an error that names the fault. */
import { beforeAll, describe, expect, test } from "vitest";
import { http } from "../../support/http.ts";
import { failure, invalidFields, messageOf } from "./api.ts";
import { remaining } from "./rate-limits.ts";
import { boughtOf, type TestSandbox } from "./sandbox.ts";

const PATH = "/sandbox/try";
const json = { "content-type": "application/json" };

const stream = (...parts: string[]) =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });

export function sandboxBodies(sandbox: () => TestSandbox): void {
  /** Sends a body with plain `fetch`, for bodies that are not text. */
  async function send(body: RequestInit["body"], headers: Record<string, string> = json) {
    const answer = await fetch(`${sandbox().stack.apiUrl}${PATH}`, {
      method: "POST",
      headers,
      body,
      ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, json: JSON.parse(text) };
  }

  /** Calls that were left, and the length of the api's log, before these tests. */
  let before: number;
  let logged: number;
  beforeAll(async () => {
    before = remaining(await sandbox().buy());
    logged = sandbox().stack.output("api").length;
  });

  describe("a body without known fields buys the default product", () => {
    test.each([
      ["no body", {}],
      ["an empty object", { body: {} }],
      ["an empty object with spaces around", { rawBody: " {\n}\t", headers: json }],
      ["null members", { body: { productId: null, productName: null, coverageAmount: null } }],
      ["no bytes, as JSON", { headers: json }],
      [
        "no bytes, as JSON with a charset",
        { headers: { "content-type": "application/json; charset=utf-8" } },
      ],
      ["no bytes, as a form", { headers: { "content-type": "application/x-www-form-urlencoded" } }],
      ["no bytes, as text", { rawBody: "", headers: { "content-type": "text/plain;charset=UTF-8" } }],
      ["no bytes, with an invalid content type", { headers: { "content-type": "x" } }],
    ])("%s", async (_, request) => {
      const answer = await sandbox().request(PATH, { method: "POST", ...request });
      expect(boughtOf(answer).productId).toBe(
        "0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd",
      );
    });

    test("an empty chunked body, with and without a content type", async () => {
      for (const headers of [json, {}]) expect((await send(stream(), headers)).status).toBe(200);
      expect((await send(stream("{", "}"))).status).toBe(200);
    });
  });

  describe("a body that is not a JSON object gets 400", () => {
    test.each([
      ["null", "null"],
      ["a list", "[]"],
      ["a number", "1"],
      ["a string", '"FLASHBTC1H-001"'],
      ["half an object", "{"],
      ["two objects", "{}{}"],
      ["a space", " "],
      ["unquoted names", "{productName: FLASHBTC1H-001}"],
      ["a zero byte", "\u0000"],
      ["60,000 opening brackets", "[".repeat(60_000)],
      ["30,000 nested arrays", `${"[".repeat(30_000)}${"]".repeat(30_000)}`],
      ["10,000 unclosed objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`.slice(0, -1)],
    ])("%s", async (_, rawBody) => {
      const answer = await sandbox().request(PATH, { rawBody, headers: json });
      expect(failure(answer)).toEqual([400, "validation_error"]);
    });

    test("bytes that are not UTF-8", async () => {
      expect(failure(await send(new Uint8Array([0xff, 0xfe, 0x7b, 0x7d])))).toEqual([
        400,
        "validation_error",
      ]);
    });
  });

  describe("invalid fields get 400 with their names", () => {
    test.each([
      [{ productId: 7 }, ["productId"]],
      [{ surprise: { deep: [1] }, Buyer: "me" }, ["Buyer", "surprise"]],
      [{ productId: "0x12" }, ["productId"]],
      [{ productId: `0x${"zz".repeat(32)}` }, ["productId"]],
      [{ productName: ["FLASHBTC1H-001"] }, ["productName"]],
      [{ productName: {} }, ["productName"]],
      [{ coverageAmount: 100_000_000 }, ["coverageAmount"]],
      [{ coverageAmount: "-1" }, ["coverageAmount"]],
      [{ coverageAmount: "1e8" }, ["coverageAmount"]],
      [{ coverageAmount: "" }, ["coverageAmount"]],
      [{ coverageAmount: "9".repeat(79) }, ["coverageAmount"]],
      [{ coverageAmount: String(2n ** 256n) }, ["coverageAmount"]],
      [{ productId: 1, productName: 2, coverageAmount: 3 }, ["coverageAmount", "productId", "productName"]],
    ])("%j", async (body, fields) => {
      const answer = await sandbox().buy(body);
      expect(failure(answer)).toEqual([400, "validation_error"]);
      expect(invalidFields(answer)).toEqual(fields);
    });

    test("a product name of 1,000,000 characters is unknown, and the message does not repeat it in full", async () => {
      const answer = await sandbox().buy({ productName: "x".repeat(60_000) });
      expect(failure(answer)).toEqual([400, "unknown_product"]);
      expect(messageOf(answer).length).toBeLessThan(400);
    });
  });

  describe("a content type other than JSON gets 415", () => {
    test.each([
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "x",
      "",
    ])("%j", async (type) => {
      const body = { rawBody: '{"productName":"FLASHETH1H-001"}', headers: { "content-type": type } };
      expect(failure(await sandbox().request(PATH, body))).toEqual([415, "unsupported_media_type"]);
    });
  });

  test("a body above 64 KiB gets 413, with or without Content-Length", async () => {
    const large = JSON.stringify({ productName: "x".repeat(70_000) });
    expect(failure(await send(large))).toEqual([413, "payload_too_large"]);
    const answer = await send(stream(large)).catch(() => undefined);
    if (answer) expect(failure(answer)).toEqual([413, "payload_too_large"]);
  });

  test("other methods get 405", async () => {
    for (const method of ["GET", "PUT", "DELETE", "PATCH"]) {
      const answer = await http(`${sandbox().stack.apiUrl}${PATH}`, { method });
      expect([method, ...failure(answer)]).toEqual([method, 405, "method_not_allowed"]);
    }
  });

  test("only successful calls of these tests count against the limit, and none caused an internal error", async () => {
    // The calls that bought: nine, three with chunked bodies, and this one.
    expect(remaining(await sandbox().buy())).toBe(before - 13);
    expect(sandbox().stack.output("api").slice(logged)).not.toContain('"internal_error"');
  });
}
