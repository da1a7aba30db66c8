/** What an agent may not do: its key's limits hold for tools, and a wrong call is told the field and the rule. */
import { describe, expect, test } from "vitest";
import { runCommand } from "../../support/command.ts";
import { http } from "../../support/http.ts";
import { firstAnswer } from "../../support/raw-http.ts";
import { startStack } from "../../support/stack.ts";
import { buyer, codeOf, countPolicies, investor, order, PREMIUM, purchase, withKey } from "./agents.ts";
import type { TestApi } from "./api.ts";
import { type Agent, overHttp } from "./mcp.ts";

export function refusedAgents(api: () => TestApi): void {
  const withAgent = <T>(limits: object, run: (agent: Agent) => Promise<T>): Promise<T> =>
    withKey(api(), buyer.address, limits, async (headers) =>
      run(await overHttp(api().stack.apiUrl, headers)),
    );

  describe("a key's limits hold for tools", () => {
    test.each<[string, object, object, string]>([
      ["a key without `buy` buys nothing", { scopes: ["read", "webhooks"] }, {}, "insufficient_scope"],
      ["nor another product", { products: ["FLASHETH1H-001"] }, {}, "product_not_allowed"],
      [
        "nor above its premium per purchase",
        { maxPremiumPerPurchase: "291999" },
        {},
        "key_purchase_cap_exceeded",
      ],
      ["nor above its premium per day", { maxPremiumPerDay: "291999" }, {}, "key_daily_cap_reached"],
      ["nor any key above maxPremium", {}, { maxPremium: "291999" }, "premium_above_maximum"],
      ["nor for a wallet that has not delegated", {}, { buyer: investor.address }, "buyer_not_authorized"],
    ])("%s", async (_, limits, more, code) => {
      const before = await countPolicies(api());
      const answer = await withAgent(limits, ({ tool }) => tool("buy_policy", purchase(more)));
      expect(codeOf(answer)).toBe(code);
      expect(await countPolicies(api())).toBe(before);
    });

    test("a key without `read` does not see the wallet's policies", async () => {
      const answer = await withAgent({ scopes: ["buy"] }, ({ tool }) => tool("my_policies"));
      expect(codeOf(answer)).toBe("insufficient_scope");
    });

    test("of simultaneous purchases as many are made as the day allows", async () => {
      const before = await countPolicies(api());
      await withAgent({ maxPremiumPerDay: String(2n * PREMIUM) }, async ({ tool }) => {
        const answers = await Promise.all(Array.from({ length: 6 }, () => tool("buy_policy", purchase())));
        const refused = answers.filter((answer) => codeOf(answer) === "key_daily_cap_reached");
        expect(refused).toHaveLength(4);
        expect(refused[0]?.text).toMatch(/Try again in \d+ seconds/);
      });
      await expect.poll(() => countPolicies(api())).toBe(before + 2);
    });

    test("calls count for the key's rate limit, and messages for that of the client address", async () => {
      const { chain, stack } = api();
      const strict = await startStack({
        chain,
        databaseUrl: stack.databaseUrl,
        // In Redis the client address's calls of the other api would count too.
        redis: false,
        services: ["api"],
        env: { api: { FREE_KEY_RATE_LIMIT: "2", PUBLIC_RATE_LIMIT: "30" } },
      });
      await withKey(api(), buyer.address, { tier: "free" }, async (headers) => {
        const { tool } = await overHttp(strict.apiUrl, headers);
        const codes: (string | undefined)[] = [];
        for (let n = 0; n < 4; n += 1)
          codes.push(codeOf(await tool("buy_policy", purchase({ buyer: investor.address }))));
        // A minute may end in between.
        expect(codes).toContain("rate_limit");
      });
      const message = { jsonrpc: "2.0", id: 1, method: "ping" };
      const headers = { accept: "application/json, text/event-stream" };
      const statuses = await Promise.all(
        Array.from({ length: 70 }, async () => {
          const answer = await http(`${strict.apiUrl}/mcp`, { headers, body: message });
          return answer.status;
        }),
      );
      expect(new Set(statuses)).toEqual(new Set([200, 429]));
    });
  });

  describe("a wrong call gets an answer that names field and rule", () => {
    test.each<[string, object, RegExp]>([
      [
        "quote",
        { ...order, product: "FLASH" },
        /product: must be the id of a product, or a name: FLASHBTC1H/,
      ],
      [
        "quote",
        { ...order, coverageAmount: "1e9" },
        /^validation_error: .*coverageAmount[\s\S]*non-negative integer/,
      ],
      ["quote", { ...order, coverageAmount: "1" }, /^coverage_below_minimum: /],
      ["buy_policy", order, /maxPremium[\s\S]*requestId/],
      ["policy", { product: order.product, policyId: "../../health" }, /policyId: must be a whole number/],
      ["policy", { product: order.product, policyId: "999999" }, /^policy_not_found: /],
      ["prepare_claim", { ...order, policyId: "1", from: "me" }, /from: must be 0x and 40 hex digits/],
      ["stats", { topic: "weather" }, /topic: /],
      ["quote", { ...order, coverage: "1" }, /coverage is unknown: the nearest known name is coverageAmount/],
      ["buy_policy", purchase({ max_premium: "1" }), /max_premium is unknown: .* maxPremium/],
      ["buy_policy", purchase({ permit: { valeu: "1" } }), /valeu is unknown: .* value/],
      ["products", { n: 1 }, /n is unknown: nothing is taken here/],
      ["quote", { ...order, coverageAmount: 100000000.5 }, /coverageAmount: must be a whole number/],
      ["quote", { ...order, coverageAmount: 2 ** 53 }, /coverageAmount: must be a whole number/],
      ["claims", { limit: "many" }, /limit: /],
      ["buy_policy", purchase({ requestId: "→" }), /requestId: must be 1 to 128 printable ASCII characters/],
      ["sandbox_try", { requestId: "" }, /requestId: must be 1 to 128 printable ASCII characters/],
    ])("%s %j", async (name, args, expected) => {
      const { tool } = await overHttp(api().stack.apiUrl);
      const answer = await tool(name, { ...args });
      expect(answer.isError).toBe(true);
      expect(answer.text).toMatch(expected);
    });

    test("the same call is taken in each form that models send", async () => {
      const { tool } = await overHttp(api().stack.apiUrl);
      const asked = (more: object) => tool("quote", { ...order, ...more });
      expect(await asked({ coverageAmount: 100_000_000 })).toEqual(await asked({}));
      const page = await tool("listings", { limit: "5", offset: "0", seller: null, maxPriceUsdc: 10 ** 12 });
      expect(page.data).toMatchObject({ limit: 5, offset: 0 });
      const transaction = {
        ...{ action: "redeem", txHash: `0x${"1".repeat(64)}`, wallet: buyer.address },
        ...{ epochId: 202812, usdAmount: 1 },
      };
      const reported = (sent: unknown) =>
        withAgent({}, (agent) => agent.tool("report_transaction", { transaction: sent }));
      for (const sent of [transaction, JSON.stringify(transaction)])
        expect(codeOf(await reported(sent))).toBe("tx_not_found");
      const permit = JSON.stringify({ value: 1, deadline: 1, signature: "0x12" });
      const refused = await withAgent({}, (agent) => agent.tool("buy_policy", purchase({ permit })));
      expect(codeOf(refused)).toBe("invalid_permit");
      const bought = purchase({ maxPremium: Number(PREMIUM), permit: null, buyer: null });
      expect(codeOf(await withAgent({}, (agent) => agent.tool("buy_policy", bought)))).toBe("done");
    });

    test("a client that accepts everything, or does not say what, is answered", async () => {
      const message = { jsonrpc: "2.0", id: 1, method: "ping" };
      const url = `${api().stack.apiUrl}/mcp`;
      for (const accept of ["*/*", "text/html, */*;q=0.1"])
        expect([accept, (await http(url, { headers: { accept }, body: message })).status]).toEqual([
          accept,
          200,
        ]);
      const text = JSON.stringify(message);
      const bare = `POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
      expect(await firstAnswer(api().stack.apiUrl, bare)).toMatch(/^HTTP\/1.1 200/);
      expect((await http(url, { headers: { accept: "text/html" }, body: message })).status).toBe(406);
    });

    test("a message is bounded before anything looks into it", async () => {
      const send = async (method: string, params: object) => {
        const message = { jsonrpc: "2.0", id: 1, method, params };
        const { status } = await http(`${api().stack.apiUrl}/mcp`, { body: message });
        return status;
      };
      const members = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, 1]));
      expect(await send("tools/list", { _meta: members(100) })).toBe(200);
      expect(await send("tools/list", { _meta: members(1000) })).toBe(400);
      expect(await send("tools/list", { _meta: members(10_000) })).toBe(413);
      const deep = JSON.parse(`${'{"a":'.repeat(50)}1${"}".repeat(50)}`);
      expect(await send("tools/list", { _meta: deep })).toBe(400);
    });

    test("a report of a transaction that does not exist", async () => {
      const transaction = {
        ...{ action: "redeem", txHash: `0x${"1".repeat(64)}`, wallet: buyer.address },
        ...{ epochId: "202812", usdAmount: "1" },
      };
      const answer = await withAgent({}, ({ tool }) => tool("report_transaction", { transaction }));
      expect(codeOf(answer)).toBe("tx_not_found");
    });

    test("a resource of a wallet that is no address", async () => {
      const { client } = await overHttp(api().stack.apiUrl);
      await expect(client.readResource({ uri: "cover://wallets/0x12/policies" })).rejects.toThrow(
        /validation_error: .*address/,
      );
    });

    test.each<[string, Record<string, string>, string, number, RegExp]>([
      [
        "a page of another origin",
        { origin: "https://evil.example" },
        '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        403,
        /Invalid Origin/,
      ],
      [
        "several messages at once",
        {},
        '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        400,
        /one message at a time/,
      ],
      ["a broken body", {}, "{", 400, /not valid JSON/],
      ["a body that is no message", {}, "{}", 400, /not a valid JSON-RPC message/],
    ])("%s gets an error of the protocol", async (_, more, rawBody, status, message) => {
      const headers = { accept: "application/json, text/event-stream", ...more };
      const answer = await http(`${api().stack.apiUrl}/mcp`, { headers, rawBody });
      expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(message)]);
      expect(answer.json).toMatchObject({ jsonrpc: "2.0", error: { code: expect.any(Number) } });
    });

    test("a page of this machine may send what the protocol's client sends", async () => {
      const asked = [
        "content-type",
        "x-api-key",
        "authorization",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
      ];
      const answer = await http(`${api().stack.apiUrl}/mcp`, {
        method: "OPTIONS",
        headers: {
          origin: "http://localhost:6274",
          "access-control-request-method": "POST",
          "access-control-request-headers": asked.join(","),
        },
      });
      const allowed = answer.headers.get("access-control-allow-headers")?.toLowerCase().split(",");
      expect(allowed).toEqual(expect.arrayContaining(asked));
    });

    test("a message by GET, which opens no stream here, gets 405", async () => {
      const answer = await http(`${api().stack.apiUrl}/mcp`, { headers: { accept: "text/event-stream" } });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, expect.stringContaining("POST")]);
    });

    test("`npm run mcp` names wrong settings and ends", async () => {
      const wrong = { API_URL: "cover.example", API_KEY: "lk_1" };
      const { code, said } = await runCommand(["scripts/start.mjs", "mcp"], wrong);
      expect([code, said]).toEqual([1, expect.stringMatching(/API_URL must be .*\n.*API_KEY must be lk_/)]);
    });
  });
}
