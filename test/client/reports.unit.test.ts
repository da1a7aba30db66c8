/** When the client sends a report again, and when it stops. */
import { describe, expect, test } from "vitest";
import { createClient } from "../../client/index.ts";
import { untilAnswered } from "../../client/repeat.ts";
import { reportTransaction } from "../../client/report.ts";
import { errorStatus } from "../../lib/errors.ts";
import { json, type Reply, serve } from "./support/replies.ts";

const report = {
  method: "POST",
  path: "/api/v1/marketplace/list",
  body: { epochId: "202607", amount: "10", totalPriceUsdc: "9000000", sellerAddress: `0x${"ab".repeat(20)}` },
} as const;
const txHash = `0x${"1".repeat(64)}`;
const soon = { delaysMs: [1, 1, 1, 1, 1, 1], longestWaitMs: 60_000 };

const failure = (code: keyof typeof errorStatus, headers: Record<string, string> = {}): Reply =>
  json(errorStatus[code], { error: code, code, message: `It is ${code}.`, details: null }, headers);
const notSent = { "x-should-retry": "false" };
const pending = json(202, { reportId: "1", status: "pending", txHash });
const recorded = json(200, { reportId: "1", listingId: "17" });
const page: Reply = (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>");

/** Sends the report to a server with these replies. */
async function reportTo(...replies: Reply[]) {
  const { baseUrl, seen } = await serve(...replies);
  const reporting = reportTransaction(createClient({ baseUrl }), report, txHash, undefined, soon);
  return { seen, outcome: await reporting.catch((error: unknown) => error) };
}

describe("a report of a mined transaction", () => {
  test.each([
    ["has it in no block yet", pending],
    ["does not know it", failure("tx_not_found", notSent)],
    ["answers with an error", failure("rpc_error", { "x-should-retry": "true" })],
  ])("is sent again while the API's node %s", async (_, behind) => {
    const { seen, outcome } = await reportTo(behind, behind, recorded);
    expect(outcome).toMatchObject({ listingId: "17" });
    expect(seen.map(({ body }) => body)).toEqual(Array(3).fill({ ...report.body, txHash }));
  });

  test("is not recorded while the API's node has it in no block: it is sent six times more, then the caller learns it", async () => {
    const { seen, outcome } = await reportTo(pending);
    expect(outcome).toMatchObject({ name: "ReportPending" });
    expect(seen).toHaveLength(7);
  });

  test.each([
    ["is refused", failure("event_missing", notSent)],
    ["gets a page of somebody else", page],
  ])("is not sent again when it %s", async (_, reply) => {
    const { seen, outcome } = await reportTo(reply);
    expect(outcome).toBeInstanceOf(Error);
    expect(seen).toHaveLength(1);
  });
});

describe("a call with an unknown outcome", () => {
  const ask = async (retries: typeof soon, ...replies: Reply[]) => {
    const { baseUrl, seen } = await serve(...replies);
    const client = createClient({ baseUrl });
    const asking = untilAnswered(() => client.get("/api/v1/auth/me"), undefined, retries);
    return { seen, outcome: await asking.catch((error: unknown) => error) };
  };

  test("is sent again six times at most", async () => {
    const { seen, outcome } = await ask(soon, failure("database_unavailable"));
    expect(outcome).toMatchObject({ code: "database_unavailable" });
    expect(seen).toHaveLength(7);
  });

  test("waits as long as a proxy's Retry-After says", async () => {
    const busy: Reply = (_, response) =>
      response.writeHead(503, { "content-type": "text/html", "retry-after": "2" }).end("<html>");
    const startedAt = performance.now();
    const { seen } = await ask(soon, busy, json(200, { ok: true }));
    expect(seen).toHaveLength(2);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(2000);
  });

  test("is not sent again when it would have to wait longer than the policy allows", async () => {
    const { seen } = await ask(
      { ...soon, longestWaitMs: 0 },
      failure("rate_limit", { "retry-after": "86400" }),
    );
    expect(seen).toHaveLength(1);
  });
});
