import { expect, test } from "vitest";
import { signRequest } from "../../workers/webhooks/signature.ts";

const event = { eventId: "evt_1", body: '{"id":"evt_1"}' };
const secrets = { secret: "ab".repeat(32) };
const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const headersOf = (trace?: { traceparent: string | null }) =>
  signRequest("https://example.com/", { ...event, ...trace }, secrets).headers;

test("the request of an event with a trace has its traceparent beside the signatures", () => {
  expect(headersOf({ traceparent })).toMatchObject({
    traceparent,
    "webhook-id": "evt_1",
    "webhook-signature": expect.stringMatching(/^v1,/),
    "x-service-signature": expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test("the request of any other event, and a test call, has none: the receiver begins a trace of its own", () => {
  for (const headers of [headersOf({ traceparent: null }), headersOf()]) {
    expect(headers).not.toHaveProperty("traceparent");
  }
});
