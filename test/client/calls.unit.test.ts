/** What a caller may pass with a call, and the form of its answer. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createClient, createCoverClient } from "../../client/index.ts";
import { json, type Reply, serve } from "./support/replies.ts";

const soon = { delaysMs: [1, 1], longestWaitMs: 0 };
const lost: Reply = (request) => request.socket.destroy();
const text =
  (type: string, content: string): Reply =>
  (_, response) =>
    response.writeHead(200, { "content-type": type }).end(content);

test("a log hook that rejects costs no answer, and does not end the process", async () => {
  const { baseUrl } = await serve(json(200, { ok: true, keyId: 7 }));
  const ended: unknown[] = [];
  const note = (reason: unknown) => ended.push(reason);
  process.on("unhandledRejection", note);
  try {
    const onRequest = () => Promise.reject(new Error("the log is full"));
    const client = createClient({ baseUrl, onRequest, onResponse: onRequest });
    expect(await client.get("/api/v1/auth/me")).toMatchObject({ keyId: 7 });
    await setImmediate();
    expect(ended).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
});

test("an Idempotency-Key in the spelling of the OpenAPI document makes a purchase repeatable, and its error names it", async () => {
  const { baseUrl, seen } = await serve(lost);
  const buyer = `0x${"1".repeat(40)}`;
  const body = { productName: "FLASHBTC24-001", coverageAmount: "1000000000", buyer };
  const client = createClient({ baseUrl, retries: soon });
  const buying = client.post("/api/v1/policies", { body, headers: { "Idempotency-Key": "one" } });
  await expect(buying).rejects.toMatchObject({ retryable: true, idempotencyKey: "one" });
  expect(seen).toHaveLength(3);
});

test("a list that begins at an offset goes on with the cursor alone", async () => {
  const policies = (ids: string[], nextCursor: string | null) =>
    json(200, { policies: ids.map((policyId) => ({ policyId })), nextCursor });
  const { baseUrl, seen } = await serve(policies(["9", "8"], "12-3"), policies(["7"], null));
  const found: bigint[] = [];
  for await (const { policyId } of createCoverClient({ baseUrl }).policies.search({ offset: 20, limit: 2 }))
    found.push(policyId);
  expect(found).toEqual([9n, 8n, 7n]);
  expect(seen.map(({ url }) => url)).toEqual([
    "/api/v1/policies/all?limit=2&offset=20",
    "/api/v1/policies/all?cursor=12-3&limit=2",
  ]);
});

describe("the form of an answer", () => {
  const claims = "/api/v1/stats/claims";

  test("is a table's text where the call asks for one", async () => {
    const { baseUrl, seen } = await serve(text("text/csv; charset=utf-8", "policyId,payout\n1,5\n"));
    const query = { limit: 1 };
    expect(await createClient({ baseUrl }).csv(claims, { query })).toBe("policyId,payout\n1,5\n");
    expect(seen[0]).toMatchObject({ url: `${claims}?limit=1`, headers: { accept: "text/csv" } });
  });

  test("is an error where somebody else answers in place of a table", async () => {
    const { baseUrl } = await serve(text("text/html", "<html>"));
    await expect(createClient({ baseUrl }).csv(claims)).rejects.toMatchObject({
      name: "ConnectionError",
      retryable: false,
    });
  });

  test("stays JSON with a header that accepts it", async () => {
    const { baseUrl } = await serve(json(200, { claims: [] }));
    const headers = { accept: "application/json" };
    expect(await createClient({ baseUrl }).get(claims, { headers })).toEqual({ claims: [] });
  });

  test("is JSON or an error, never nothing, with a header that accepts another one", async () => {
    const { baseUrl } = await serve(text("text/csv; charset=utf-8", "policyId\n"));
    const reading = createClient({ baseUrl }).get(claims, { headers: { accept: "text/csv" } });
    await expect(reading).rejects.toMatchObject({ name: "ConnectionError", retryable: false });
  });

  test("is JSON for each path that the types let a call read", () => {
    const { address } = createClient({ baseUrl: "" });
    // @ts-expect-error the explorer is a page for people
    expect(address("/api-docs")).toBe("/api-docs");
  });
});
