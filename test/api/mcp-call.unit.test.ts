/** What a tool makes of answers that are not the API's. */
import { expect, test } from "vitest";
import { createApiCall, toolResult } from "../../api/mcp/api-call.ts";
import { json, serve } from "../client/support/replies.ts";

const headers = { "x-api-key": "lk_secret" };

test.each([[502], [200]])("a page with the status %s says that nobody knows the outcome", async (status) => {
  const { baseUrl } = await serve((_, response) => response.writeHead(status).end("<html>"));
  const answer = await createApiCall(fetch, { baseUrl, headers })({ method: "GET", path: "/products" });
  expect(toolResult(answer)).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(`answered ${status}: the outcome is unknown`) }],
  });
});

test("a lost answer says that nobody knows the outcome", async () => {
  const { baseUrl } = await serve((request) => request.socket.destroy());
  const call = createApiCall(fetch, { baseUrl, headers });
  await expect(call({ method: "POST", path: "/sandbox/try", body: {} })).rejects.toThrow(
    "No answer came from the API: the outcome is unknown.",
  );
});

test("a key follows no redirect", async () => {
  const other = await serve(json(200, {}));
  const { baseUrl } = await serve((_, response) =>
    response.writeHead(307, { location: other.baseUrl }).end(),
  );
  const call = createApiCall(fetch, { baseUrl, headers });
  await expect(call({ method: "GET", path: "/products" })).rejects.toThrow(/the outcome is unknown/);
  expect(other.seen).toEqual([]);
});
