/** The writer's figures for Prometheus, from a real writer on its own port. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { createStages, type Stage, stages } from "../../workers/metrics/stages.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { freshDatabase } from "../support/database.ts";
import { newBuyer, openLedger, purchaseRequest } from "../support/ledger.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

let chain: TestChain;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true });
});

type Samples = ReadonlyMap<string, number>;

/** The samples of an answer, by their names with labels as Prometheus prints them. */
async function scrape(url: string): Promise<Samples> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("text/plain");
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ""), Number(line.split(" ").at(-1))]));
}

const gaugesOf = (samples: Samples, start: string) =>
  [...samples.keys()].filter((name) => name.startsWith(start));

test("every figure is there, and each purchase passes through each stage once", async () => {
  const stack = await startStack({ chain, services: ["writer"] });
  const ledger = await openLedger(chain, { databaseUrl: stack.databaseUrl });
  const wallet = chain.relayer.address.toLowerCase();
  const before = await scrape(stack.metricsUrl);
  expect(before.get('relay_settled_total{outcome="bought"}')).toBe(0);
  expect(gaugesOf(before, "relay_wallet_transactions_left")).toEqual([]);

  const buyer = await newBuyer(chain);
  const nonce = await chain.client.getTransactionCount({ address: chain.relayer.address });
  const balance = await chain.client.getBalance({ address: chain.relayer.address });
  const ids = await Promise.all(
    Array.from({ length: 5 }, (_, n) => ledger.buy(purchaseRequest(buyer.address), `metrics-${n}`)),
  );
  for (const id of ids) await ledger.settled(id);
  const poor = await newBuyer(chain, { approve: false });
  await ledger.settled(await ledger.buy(purchaseRequest(poor.address)));

  const after = await waitFor({
    what: "the purchases to be counted",
    probe: async () => {
      const samples = await scrape(stack.metricsUrl);
      return samples.get('relay_settled_total{outcome="bought"}') === 5 ? samples : undefined;
    },
    timeoutMs: 60_000,
  });
  for (const stage of stages) {
    const expected = stage === "accept" ? 6 : 5;
    expect(after.get(`relay_stage_seconds_count{stage="${stage}"}`), stage).toBe(expected);
    expect(after.get(`relay_stage_seconds_sum{stage="${stage}"}`), stage).toBeLessThan(20);
  }
  const left = await chain.client.getBalance({ address: chain.relayer.address });
  const [keyId] = await ledger.connection.sql<{ id: string }[]>`
    select id from service.api_key where wallet = ${buyer.address.toLowerCase()}`;
  const spent = after.get(`relay_gas_spent_eth_total{key_id="${keyId?.id}"}`) ?? 0;
  expect(spent).toBeCloseTo(Number(balance - left) / 1e18, 12);
  expect(spent).toBeGreaterThan(0);
  expect(after.get(`relay_wallet_balance_wei{wallet="${wallet}"}`)).toBe(Number(left));
  // The cost of the last one stands for all: the first into a slot costs more than those that follow.
  const perPurchase = Number(balance - left) / 5;
  const transactions = after.get(`relay_wallet_transactions_left{wallet="${wallet}"}`) ?? 0;
  expect(transactions / (Number(left) / perPurchase)).toBeGreaterThan(0.5);
  expect(transactions / (Number(left) / perPurchase)).toBeLessThan(2);
  expect(Object.fromEntries(after)).toMatchObject({
    [`relay_wallet_next_nonce{wallet="${wallet}"}`]: nonce + 5,
    [`relay_wallet_in_flight{wallet="${wallet}"}`]: 0,
    [`relay_wallet_oldest_in_flight_seconds{wallet="${wallet}"}`]: 0,
    relay_accepted_waiting: 0,
    relay_oldest_accepted_seconds: 0,
    'relay_settled_total{outcome="refused"}': 1,
    'relay_settled_total{outcome="reverted"}': 0,
    'relay_broadcasts_total{answer="accepted"}': 5,
    relay_fee_bumps_total: 0,
    'relay_source_up{source="chain"}': 1,
    'relay_source_up{source="ledger"}': 1,
    'webhook_attempts_total{outcome="delivered"}': 0,
    webhook_attempt_seconds_count: 0,
    webhook_deliveries_pending: 0,
    webhook_oldest_due_seconds: 0,
    webhook_subscriptions_undeliverable: 0,
  });
});

test("what is in flight and what waits shows while it does, and an outage costs only what it hides", async () => {
  const databaseUrl = await freshDatabase();
  const [rpc, database] = [await startRpcProxy(chain.url), await startTcpProxy(databaseUrl)];
  const stack = await startStack({ chain, services: ["writer"], rpcUrl: rpc.url, databaseUrl: database.url });
  const ledger = await openLedger(chain, { databaseUrl });
  const buyer = await newBuyer(chain);
  const wallet = chain.relayer.address.toLowerCase();

  const until = (what: string, met: (samples: Samples) => boolean) =>
    waitFor({
      what,
      probe: async () => {
        const samples = await scrape(stack.metricsUrl);
        return met(samples) ? samples : undefined;
      },
      timeoutMs: 60_000,
      intervalMs: 200,
    });

  // The node refuses the bytes: they stay in flight and grow old.
  rpc.intercept((call, forward) =>
    call.method === "eth_sendRawTransaction"
      ? Promise.resolve({ error: { code: -32000, message: "the pool is full" } })
      : forward(),
  );
  const stuck = await ledger.buy(purchaseRequest(buyer.address));
  const flying = await until(
    "a transaction in flight to grow old",
    (samples) => (samples.get(`relay_wallet_oldest_in_flight_seconds{wallet="${wallet}"}`) ?? 0) > 1,
  );
  expect(flying.get(`relay_wallet_in_flight{wallet="${wallet}"}`)).toBe(1);
  expect(flying.get('relay_broadcasts_total{answer="unknown"}')).toBeGreaterThan(0);

  rpc.intercept(async () => "lost");
  const waiting = await ledger.buy(purchaseRequest(buyer.address), "waits");
  const blind = await until(
    "an accepted purchase to wait",
    (samples) => (samples.get("relay_oldest_accepted_seconds") ?? 0) > 1,
  );
  expect(blind.get("relay_accepted_waiting")).toBe(1);
  expect(blind.get('relay_source_up{source="chain"}')).toBe(0);
  expect(gaugesOf(blind, "relay_wallet_balance_wei")).toEqual([]);

  rpc.intercept();
  await ledger.settled(stuck, 60_000);
  await ledger.settled(waiting, 60_000);

  await database.cut();
  const started = Date.now();
  const dark = await until(
    "the ledger to be gone",
    (samples) => samples.get('relay_source_up{source="ledger"}') === 0,
  );
  expect(Date.now() - started).toBeLessThan(10_000);
  expect(gaugesOf(dark, "relay_wallet_next_nonce")).toEqual([]);
  expect(gaugesOf(dark, "relay_accepted_waiting")).toEqual([]);
  expect(dark.get(`relay_wallet_balance_wei{wallet="${wallet}"}`)).toBeGreaterThan(0);
  await database.mend();
  await until("the ledger to be back", (samples) => samples.get("relay_accepted_waiting") === 0);
});

test("it serves GET /metrics and nothing else, and a port that is taken is named", async () => {
  const stack = await startStack({ chain, services: ["writer"] });
  expect((await fetch(stack.metricsUrl, { method: "POST" })).status).toBe(404);
  expect((await fetch(new URL("/", stack.metricsUrl))).status).toBe(404);
  expect((await fetch(new URL("/health", stack.metricsUrl))).status).toBe(404);

  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const refused = await startStack({ chain, services: [], env: { writer: { METRICS_PORT: String(port) } } });
  const writer = await refused.start("writer", { wait: false });
  expect((await writer.exited).code).toBe(1);
  expect(refused.output("writer")).toContain(`METRICS_PORT ${port} is taken by another process`);
  server.close();
});

test("stages follow each other, whatever is told twice, late or out of order", () => {
  const samples: [Stage, number][] = [];
  let clock = 0;
  const tracked = createStages(
    (stage, seconds) => samples.push([stage, seconds]),
    () => clock,
  );
  tracked.begin("a", 0.5);
  tracked.begin("a", 9);
  clock = 1000;
  tracked.end("simulate", ["a", "unknown"]);
  tracked.end("simulate", ["a"]);
  clock = 3000;
  tracked.end("queue", ["a"]);
  tracked.end("sign", ["a"]);
  tracked.alias("a", "0xa");
  tracked.forget("a");
  tracked.alias("0xa", "0xb");
  clock = 7000;
  // The block was seen before the node's answer, under the hash of the second form.
  tracked.end("mine", ["0xb"]);
  tracked.end("broadcast", ["0xa"]);
  clock = 7500;
  tracked.end("settle", ["0xb"]);
  tracked.end("settle", ["0xb", "0xa"]);
  expect(samples).toEqual([
    ["accept", 0.5],
    ["simulate", 1],
    ["queue", 2],
    ["sign", 0],
    ["broadcast", 4],
    ["mine", 0],
    ["settle", 0.5],
  ]);
});

test("what is followed has a bound: the oldest is forgotten", () => {
  let settled = 0;
  const tracked = createStages((stage) => {
    if (stage === "settle") settled += 1;
  });
  for (let n = 0; n < 50_000; n += 1) tracked.begin(String(n), 0);
  tracked.end("settle", ["0", "1", "49999"]);
  expect(settled).toBe(1);
});
