/** Webhooks from end to end: a chain, the three processes, and receivers that verify each request. */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { standardSecret, verifyWebhook } from "../../lib/webhooks/receiver.mjs";
import { freePort } from "../../scripts/local/ports.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
import { newBuyer } from "../support/ledger.ts";
import { eventFaults, fetchOpenApi, type OpenApi } from "../support/openapi.ts";
import { eventOf, ok, type Received, type Receivers, startReceivers, status } from "../support/receiver.ts";
import { newTrace } from "../support/trace.ts";
import { failure, repeatWhile, startApi, type TestApi } from "./support/api.ts";
import { createKeyHolder } from "./support/buyer.ts";
import { newSubscriber, type Subscriber, storeEvent } from "./support/webhooks.ts";

let api: TestApi;
let document: OpenApi;
let receivers: Receivers;
let connection: Connection;
beforeAll(async () => {
  api = await startApi({
    services: ["api", "indexer", "writer"],
    chainOptions: { blockTime: 1, mixedMining: true },
  });
  document = await fetchOpenApi(api.stack.apiUrl);
  receivers = await startReceivers();
  connection = connect(api.stack.databaseUrl, { name: "test", max: 2 });
  atEnd(() => connection.close());
});

/** Verifies a received request's signature and its body against the OpenAPI document. @returns the event */
function verified({ body, headers }: Received, secrets: string | string[]) {
  const event = verifyWebhook(body, headers, secrets);
  expect(eventFaults(document, JSON.parse(body))).toEqual([]);
  expect(headers["content-type"]).toMatch(/^application\/json/);
  expect(headers["webhook-id"]).toBe(event.id);
  return event;
}

const tested = z.object({
  delivered: z.boolean(),
  delivery: z.looseObject({ id: z.number(), state: z.string(), attempts: z.array(z.looseObject({})) }),
});
const testCall = async (owner: Subscriber, id: number) => {
  const answer = await owner.call("POST", `/${id}/test`);
  expect(answer.status, answer.text).toBe(200);
  return tested.parse(answer.json);
};

describe("POST /api/v1/webhooks/{id}/test", () => {
  test("sends a signed sample event, and returns its delivery", async () => {
    const owner = await newSubscriber(api);
    const receiver = receivers.at("sample");
    const { id, secret } = await owner.subscribe(receiver.url, ["bond_minted"]);
    const { delivered, delivery } = await testCall(owner, id);
    expect(delivered).toBe(true);
    expect(delivery).toMatchObject({ state: "delivered", test: true, eventType: "webhook_test" });
    expect(delivery.attempts).toEqual([
      expect.objectContaining({ outcome: "delivered", status: 200, error: null }),
    ]);
    const [request] = await receiver.received(1);
    if (!request) throw new Error("nothing arrived");
    expect(request.headers).not.toHaveProperty("traceparent");
    const event = verified(request, secret);
    expect(event).toMatchObject({ type: "webhook_test", blockNumber: null, data: { webhookId: id } });
    expect(event.id).toBe(delivery.eventId);
    expect((await owner.call("GET", `/${id}/deliveries`)).json).toMatchObject({
      deliveries: [
        { id: delivery.id, state: "delivered", test: true },
        { eventType: "webhook_challenge", test: true },
      ],
    });
  });

  test("signs with both secrets after a rotation, and only with the new one a day later", async () => {
    const owner = await newSubscriber(api);
    const receiver = receivers.at("rotated");
    const { id, secret } = await owner.subscribe(receiver.url);
    const rotation = await owner.call("POST", `/${id}/rotate-secret`);
    const { secret: next } = z.object({ secret: z.string() }).parse(rotation.json);
    await testCall(owner, id);
    await connection.sql`update service.webhook set previous_secret_until = now() where id = ${id}`;
    await testCall(owner, id);
    const [during, after] = await receiver.received(2);
    if (!during || !after) throw new Error("nothing arrived");
    for (const secrets of [secret, next, standardSecret(secret), [secret, next]]) verified(during, secrets);
    expect(during.headers["x-service-signature-previous"]).toMatch(/^[0-9a-f]{64}$/);
    verified(after, next);
    expect(after.headers["x-service-signature-previous"]).toBeUndefined();
    expect(() => verifyWebhook(after.body, after.headers, secret)).toThrow(/was not made with this secret/);
  });

  test("a failed test call gets 200 with the reason, and does not change the webhook", async () => {
    const owner = await newSubscriber(api);
    const closed = `http://127.0.0.1:${await freePort()}/`;
    const refusing = receivers.at("refusing");
    refusing.behave(status(500));
    const cases = [
      [refusing.url, { outcome: "refused", status: 500 }],
      [closed, { outcome: "connection_failed", status: null }],
    ] as const;
    await Promise.all(
      cases.map(async ([url, attempt]) => {
        const { id } = await owner.subscribe(url);
        const { delivered, delivery } = await testCall(owner, id);
        expect([delivered, delivery.state, delivery.attempts]).toEqual([
          false,
          "undeliverable",
          [expect.objectContaining({ ...attempt, error: expect.any(String) })],
        ]);
        expect((await owner.call("GET", `/${id}`)).json).toMatchObject({ state: "active" });
        expect((await owner.call("POST", `/${id}/retry`)).json).toMatchObject({ scheduled: 0 });
      }),
    );
  });

  test("sends to an undeliverable webhook, which stays undeliverable", async () => {
    const owner = await newSubscriber(api);
    const { id } = await owner.subscribe(receivers.at("given-up").url);
    await connection.sql`
      update service.webhook set state = 'undeliverable', position = 0, undeliverable_at = now() where id = ${id}`;
    expect(await testCall(owner, id)).toMatchObject({ delivered: true });
    expect((await owner.call("GET", `/${id}`)).json).toMatchObject({ state: "undeliverable" });
  });
});

const isVerified = async (owner: Subscriber, id: number) =>
  z.object({ verified: z.boolean() }).parse((await owner.call("GET", `/${id}`)).json).verified;

describe("a webhook is verified", () => {
  test("once its receiver echoes the signed challenge of its creation", async () => {
    const owner = await newSubscriber(api);
    const receiver = receivers.at("echo");
    const made = await owner.call("POST", "", { url: receiver.url, events: "*" });
    expect([made.status, made.json]).toEqual([201, expect.objectContaining({ verified: false })]);
    const { id, secret } = z.object({ id: z.number(), secret: z.string() }).parse(made.json);
    await expect.poll(() => isVerified(owner, id)).toBe(true);
    const [request] = receiver.challenges;
    if (!request) throw new Error("nothing arrived");
    expect(verified(request, secret)).toMatchObject({ type: "webhook_challenge", data: { webhookId: id } });
  });

  test("by an echo to a test call, and not by another answer or status", async () => {
    const owner = await newSubscriber(api);
    // Nobody is there at its creation.
    const { id } = await owner.subscribe(`${receivers.url}/later`);
    const settled = async () =>
      deliveryList.parse((await owner.call("GET", `/${id}/deliveries`)).json).deliveries[0]?.state;
    await expect.poll(settled).toBe("undeliverable");
    const receiver = receivers.at("later");
    const echo = (code: number) =>
      receiver.behave((_, { body }) => ({
        ...{ kind: "answer", status: code },
        body: String(eventOf({ body }).data.challenge),
      }));
    expect(await testCall(owner, id)).toMatchObject({ delivered: true });
    echo(500);
    expect(await testCall(owner, id)).toMatchObject({ delivered: false });
    expect(await isVerified(owner, id)).toBe(false);
    echo(200);
    expect(await testCall(owner, id)).toMatchObject({ delivered: true });
    expect(await isVerified(owner, id)).toBe(true);
  });
});

const deliveryList = z.object({
  deliveries: z.array(z.looseObject({ id: z.number(), eventId: z.string(), state: z.string() })),
});

test("a purchase is delivered with its traceparent, listed among the deliveries, and sent again on a replay", async () => {
  const account = await newBuyer(api.chain);
  const buyer = await createKeyHolder(api, account);
  const owner = await newSubscriber(api, account.address);
  const receiver = receivers.at("purchases");
  const { id, secret } = await owner.subscribe(receiver.url, ["policy_purchased"]);
  const since = Math.floor(Date.now() / 1000);
  const traceparent = newTrace();
  const bought = await buyer.buy({}, { traceparent });
  expect(bought.status, bought.text).toBe(201);
  const { policyId, txHash } = z.object({ policyId: z.string(), txHash: z.string() }).parse(bought.json);

  const [first] = await receiver.received(1);
  if (!first) throw new Error("nothing arrived");
  const event = verified(first, secret);
  expect(event).toMatchObject({
    type: "policy_purchased",
    txHash,
    data: { policyId, buyer: account.address },
  });
  const listed = async () =>
    deliveryList.parse((await owner.call("GET", `/${id}/deliveries`)).json).deliveries;
  const settled = () =>
    waitFor({
      what: "the delivery to be settled",
      probe: async () => {
        const [delivery] = await listed();
        return delivery?.state === "delivered" ? delivery : undefined;
      },
    });
  const delivery = await settled();
  expect(delivery).toMatchObject({ eventId: event.id, eventType: "policy_purchased", test: false });

  const again = await owner.call("POST", `/${id}/deliveries/${delivery.id}/replay`);
  expect(again.status).toBe(202);
  await receiver.received(2);
  await settled();
  const all = await owner.call("POST", `/${id}/replay?since=${since - 60}`);
  expect([all.status, all.json]).toEqual([202, { ok: true, id, scheduled: 1 }]);
  const requests = await receiver.received(3);
  expect(requests.map((request) => verified(request, secret).id)).toEqual(Array(3).fill(event.id));
  expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
  expect(requests.map((request) => request.headers.traceparent)).toEqual(Array(3).fill(traceparent));
  const attempts = () =>
    api.stack
      .output("writer")
      .split("\n")
      .filter((line) => line.includes(traceparent));
  await expect.poll(() => attempts().filter((line) => line.includes(event.id))).toHaveLength(3);
  expect(await settled()).toMatchObject({ attempts: [{ status: 200 }, { status: 200 }, { status: 200 }] });
});

test("during concurrent replays and retries each event arrives, and no call fails", async () => {
  const owner = await newSubscriber(api);
  const receiver = receivers.at("busy");
  const { id, secret } = await owner.subscribe(receiver.url);
  await expect.poll(() => isVerified(owner, id)).toBe(true);
  // The events are of a future block, so that the outbox does not check them against the chain.
  const stored: string[] = [];
  for (let n = 0; n < 150; n += 1) {
    stored.push((await storeEvent(connection, owner.wallet, { block: 1_000_000_000 })).id);
  }
  const since = Math.floor(Date.now() / 1000) - 60;
  // The wallet's calls wait for one another and for the writer: on a busy machine some may wait too long.
  const call = (path: string) =>
    repeatWhile(["database_unavailable"], () => owner.call("POST", `/${id}${path}`));
  const replayAll = () => call(`/replay?since=${since}`);
  const first = await replayAll();
  expect(first.json).toMatchObject({ scheduled: stored.length });
  const { deliveries } = deliveryList.parse((await owner.call("GET", `/${id}/deliveries?limit=25`)).json);
  const answers = await Promise.all([
    ...Array.from({ length: 3 }, replayAll),
    ...deliveries.map((delivery) => call(`/deliveries/${delivery.id}/replay`)),
    ...Array.from({ length: 3 }, () => call("/retry")),
  ]);
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200, 202]));
  const open = async () => {
    const [row] = await connection.sql<{ open: number }[]>`
      select count(*)::int as open from service.delivery where webhook_id = ${id} and state <> 'delivered'`;
    return row?.open;
  };
  await expect.poll(open).toBe(0);
  const arrived = receiver.requests.map(({ body, headers }) => verifyWebhook(body, headers, secret).id);
  expect([...new Set(arrived)].sort()).toEqual([...stored].sort());
});

test("a test call without a writer gets 503, and is sent once a writer runs", async () => {
  const owner = await newSubscriber(api);
  const receiver = receivers.at("late");
  receiver.behave(ok);
  const { id } = await owner.subscribe(receiver.url);
  await api.stack.stopService("writer");
  const answer = await owner.call("POST", `/${id}/test`);
  expect(failure(answer)).toEqual([503, "test_pending"]);
  expect(answer.headers.get("retry-after")).toBe("30");
  await api.stack.start("writer");
  await receiver.received(1);
  await expect
    .poll(() => owner.call("GET", `/${id}/deliveries`).then(({ json }) => json))
    .toMatchObject({
      deliveries: [
        { eventType: "webhook_test", state: "delivered" },
        { eventType: "webhook_challenge", state: "delivered" },
      ],
    });
});
