/**
 * An Idempotency-Key over HTTP. What this proves: a purchase sent many times, also concurrently, is bought once, counted
 * on the chain; and it gets the same receipt after restarts and a lost index. purchase-redis.test.ts has a lost Redis.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { anvilAccount } from "../../lib/chain/client.ts";
import { connect } from "../../lib/db/connect.ts";
import { approveUsdc } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
import type { HttpAnswer } from "../support/http.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { failure, startApi, type TestApi } from "./support/api.ts";
import { type Buyer, createBuyer, receiptOf } from "./support/buyer.ts";
import { sendTracked } from "./support/tracked-request.ts";

let api: TestApi;
let buyer: Buyer;
let other: Buyer;
beforeAll(async () => {
  // At this level the api logs each finished call.
  const env = { api: { LOG_LEVEL: "debug" } };
  api = await startApi({ services: ["indexer", "api", "writer"], env });
  buyer = await createBuyer(api, anvilAccount(2));
  other = await createBuyer(api, anvilAccount(3));
});

const newKey = () => ({ "idempotency-key": randomUUID() });
const policyCount = async ({ account }: Buyer) => (await policiesOnChain(api.chain, account.address)).length;

/** Counts the responses by status. */
function statuses(answers: readonly HttpAnswer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe("simultaneous calls", () => {
  test("100 identical calls: one 201, ninety-nine 200, one policy", async () => {
    const before = await policyCount(buyer);
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 100 }, () => buyer.buy({}, key)));
    expect(statuses(answers)).toEqual({ 200: 99, 201: 1 });
    const [first] = answers;
    for (const answer of answers) expect(answer.json).toEqual(first?.json);
    expect(await policyCount(buyer)).toBe(before + 1);
  });

  test("100 calls with one key and different bodies: one 201, ninety-nine 409", async () => {
    const before = await policyCount(buyer);
    const key = newKey();
    const amounts = Array.from({ length: 100 }, (_, n) => String(100_000_000 + n));
    const answers = await Promise.all(amounts.map((coverageAmount) => buyer.buy({ coverageAmount }, key)));
    expect(statuses(answers)).toEqual({ 201: 1, 409: 99 });
    expect(answers.filter(({ status }) => status === 409).map(failure)).toEqual(
      Array.from({ length: 99 }, () => [409, "idempotency_conflict"]),
    );
    expect(await policyCount(buyer)).toBe(before + 1);
    // From now on the key belongs to the accepted body.
    const winner = amounts[answers.findIndex(({ status }) => status === 201)];
    expect((await buyer.buy({ coverageAmount: winner }, key)).status).toBe(200);
  });

  test("two wallets with the same key: two purchases", async () => {
    const before = [await policyCount(buyer), await policyCount(other)];
    const key = newKey();
    const answers = await Promise.all([buyer, other, buyer, other].map((agent) => agent.buy({}, key)));
    expect(statuses(answers)).toEqual({ 200: 2, 201: 2 });
    expect(new Set(answers.map((answer) => receiptOf(answer).purchaseId)).size).toBe(2);
    expect([await policyCount(buyer), await policyCount(other)]).toEqual(before.map((count) => count + 1));
  });

  test("101 identical calls without a key, sent before the first response: one policy", async () => {
    const before = await policyCount(buyer);
    await api.chain.client.setAutomine(false);
    const body = { coverageAmount: "111000000" };
    const call = () =>
      sendTracked(`${api.stack.apiUrl}/api/v1/policies`, {
        headers: buyer.headers,
        body: { productName: "FLASHBTC1H-001", buyer: buyer.account.address, ...body },
      });
    const calls = Array.from({ length: 100 }, call);
    await expect
      .poll(() =>
        api.chain.client.getTransactionCount({ address: api.chain.relayer.address, blockTag: "pending" }),
      )
      .toBeGreaterThan(await api.chain.client.getTransactionCount({ address: api.chain.relayer.address }));
    calls.push(call());
    await Promise.all(calls.map(({ received }) => received));
    // The api records purchases in order: once a later call has its 202, all earlier calls have joined.
    expect((await other.buy(body, { ...newKey(), prefer: "respond-async" })).status).toBe(202);
    await api.chain.client.setAutomine(true);
    await api.chain.client.mine({ blocks: 1 });
    const answers = await Promise.all(calls.map(({ answer }) => answer));
    expect(statuses(answers)).toEqual({ 200: 100, 201: 1 });
    expect(await policyCount(buyer)).toBe(before + 1);
  });
});

test("another coverage, product or asset conflicts with the key; another spelling of the same purchase does not", async () => {
  const key = newKey();
  const first = await buyer.buy({}, key);
  const productId = receiptOf(first).productId;
  for (const body of [
    { coverageAmount: "100000001" },
    { productName: "FLASHBTC24-001" },
    { asset: `0x${"00".repeat(32)}` },
  ]) {
    expect(failure(await buyer.buy(body, key)), JSON.stringify(body)).toEqual([409, "idempotency_conflict"]);
  }
  for (const body of [
    { coverageAmount: "0100000000" },
    { productName: undefined, productId },
    { buyer: buyer.account.address.toLowerCase() },
  ]) {
    const replay = await buyer.buy(body, key);
    expect([replay.status, replay.json], JSON.stringify(body)).toEqual([200, first.json]);
  }
});

test("a purchase that failed without a transaction frees its key, also for another body", async () => {
  const { coverRouter } = api.chain.deployment.contracts;
  const before = await policyCount(other);
  const key = newKey();
  await approveUsdc(api.protocol, other.account, coverRouter, 0n);
  expect(failure(await other.buy({}, key))).toEqual([502, "onchain_revert"]);
  await approveUsdc(api.protocol, other.account, coverRouter);
  expect((await other.buy({ coverageAmount: "200000000" }, key)).status).toBe(201);
  expect(failure(await other.buy({}, key))).toEqual([409, "idempotency_conflict"]);
  expect(await policyCount(other)).toBe(before + 1);
});

test("without a key, a call repeated after a disconnect gets the policy already bought; the same call after that buys another", async () => {
  const caller = await createBuyer(api, anvilAccount(4));
  const policies = () => policyCount(caller);
  const requestId = randomUUID();
  const body = { productName: "FLASHETH1H-001", coverageAmount: "100000000", buyer: caller.account.address };
  await api.chain.client.setAutomine(false);
  const controller = new AbortController();
  const call = fetch(`${api.stack.apiUrl}/api/v1/policies`, {
    method: "POST",
    signal: controller.signal,
    headers: { ...caller.headers, "content-type": "application/json", "x-request-id": requestId },
    body: JSON.stringify(body),
  }).then(
    ({ status }) => status,
    () => "disconnected",
  );
  await waitFor({
    what: "the transaction to be pending",
    probe: async () => {
      const block = await api.chain.client.getBlock({ blockTag: "pending" });
      return block.transactions.length > 0 || undefined;
    },
  });
  controller.abort();
  expect(await call).toBe("disconnected");
  await api.chain.client.setAutomine(true);
  await api.chain.client.mine({ blocks: 1 });
  await waitFor({
    what: "the policy to be on the chain",
    probe: async () => (await policies()) === 1 || undefined,
  });
  await waitFor({
    what: "the api to finish the disconnected call",
    probe: async () => api.stack.output("api").includes(requestId) || undefined,
  });

  expect((await caller.buy(body)).status).toBe(200);
  expect(await policies()).toBe(1);
  expect((await caller.buy(body)).status).toBe(201);
  expect(await policies()).toBe(2);
});

describe("the same Idempotency-Key and body return the same receipt", () => {
  let key: { "idempotency-key": string };
  let first: HttpAnswer;
  let policies: number;
  beforeAll(async () => {
    key = newKey();
    first = await buyer.buy({}, key);
    expect(first.status, first.text).toBe(201);
    policies = await policyCount(buyer);
  });

  async function expectReplay(): Promise<void> {
    const replay = await buyer.buy({}, key);
    expect([replay.status, replay.json]).toEqual([200, first.json]);
    expect(failure(await buyer.buy({ coverageAmount: "100000001" }, key))).toEqual([
      409,
      "idempotency_conflict",
    ]);
    expect(await policyCount(buyer)).toBe(policies);
  }

  test("while the writer is away, and after all three processes were killed and restarted", async () => {
    const names = ["writer", "api", "indexer"] as const;
    await api.stack.kill9("writer");
    await expectReplay();
    await api.stack.kill9("api");
    await api.stack.kill9("indexer");
    await Promise.all(names.map((name) => api.stack.start(name)));
    await expectReplay();
  });

  test("while the index is dropped, and after it was rebuilt", async () => {
    await api.stack.kill9("indexer");
    const { sql, close } = connect(api.stack.databaseUrl, { name: "test" });
    atEnd(close);
    const schemas = await sql<{ name: string }[]>`
      select nspname as name from pg_namespace
      where nspname not in ('public', 'service', 'bullmq', 'information_schema') and nspname not like 'pg\\_%'`;
    expect(schemas.map(({ name }) => name)).toContain("ponder_sync");
    const names = schemas.map(({ name }) => name);
    await waitFor({
      what: "the index to be dropped, which Postgres refuses when it deadlocks with a reader",
      probe: () => sql`drop schema ${sql(names)} cascade`.then(() => true),
    });
    await expectReplay();
    await api.stack.start("indexer");
    await expectReplay();
    const list = z.object({ policies: z.array(z.object({ policyId: z.string() })) });
    const { policyId } = receiptOf(first);
    const isListed = async (): Promise<boolean> => {
      const { json } = await api.request(`/api/v1/policies/by-buyer/${buyer.account.address}?limit=100`);
      const parsed = list.safeParse(json);
      return parsed.success && parsed.data.policies.some((policy) => policy.policyId === policyId);
    };
    await expect.poll(isListed, { interval: 200 }).toBe(true);
  });
});
