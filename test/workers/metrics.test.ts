/** The writer's metrics, scraped from a writer process. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { createStages, type Stage, stages } from "../../workers/metrics/purchase-stages.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { freshDatabase } from "../support/database.ts";
import { newBuyer, openLedger, purchaseRequest, type TestLedger } from "../support/ledger.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { hasSamples, namesWith, type Samples, scrape, scrapeUntil } from "./support/metrics.ts";

let chain: TestChain;
let rpc: RpcProxy;
let database: TcpProxy;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true });
  const databaseUrl = await freshDatabase();
  [rpc, database] = [await startRpcProxy(chain.url), await startTcpProxy(databaseUrl)];
  stack = await startStack({ chain, services: ["writer"], rpcUrl: rpc.url, databaseUrl: database.url });
  ledger = await openLedger(chain, { databaseUrl });
});

test("every metric is exported, and each purchase passes each stage once", async () => {
  const wallet = chain.relayer.address.toLowerCase();
  const before = await scrape(stack.metricsUrl);
  expect(before.get('relay_settled_total{outcome="bought"}')).toBe(0);
  expect(namesWith(before, "relay_wallet_transactions_left")).toEqual([]);

  const buyer = await newBuyer(chain);
  const nonce = await chain.client.getTransactionCount({ address: chain.relayer.address });
  const balance = await chain.client.getBalance({ address: chain.relayer.address });
  const ids = await Promise.all(
    Array.from({ length: 5 }, (_, n) => ledger.buy(purchaseRequest(buyer.address), `metrics-${n}`)),
  );
  for (const id of ids) await ledger.settled(id);
  const poor = await newBuyer(chain, { approve: false });
  await ledger.settled(await ledger.buy(purchaseRequest(poor.address)));

  const after = await scrapeUntil(stack.metricsUrl, "the purchases to be counted", (samples) =>
    hasSamples(samples, {
      'relay_settled_total{outcome="bought"}': 5,
      'relay_source_up{source="chain"}': 1,
      'relay_source_up{source="ledger"}': 1,
    }),
  );
  for (const stage of stages) {
    const expected = ["accept", "queue", "simulate"].includes(stage) ? 6 : 5;
    expect(after.get(`relay_stage_seconds_count{stage="${stage}"}`), stage).toBe(expected);
    expect(after.get(`relay_stage_seconds_sum{stage="${stage}"}`), stage).toBeLessThan(300);
  }
  expect(after.get("relay_accepted_to_broadcast_seconds_count")).toBe(5);
  expect(after.get("relay_purchase_ttl_seconds")).toBe(600);
  const left = await chain.client.getBalance({ address: chain.relayer.address });
  const [keyId] = await ledger.connection.sql<{ id: string }[]>`
    select id from service.api_key where wallet = ${buyer.address.toLowerCase()}`;
  const spent = after.get(`relay_gas_spent_eth_total{key_id="${keyId?.id}"}`) ?? 0;
  expect(spent).toBeCloseTo(Number(balance - left) / 1e18, 12);
  expect(spent).toBeGreaterThan(0);
  expect(after.get(`relay_wallet_balance_wei{wallet="${wallet}"}`)).toBe(Number(left));
  // The estimate uses the newest purchase; the first one costs more, because it writes new storage slots.
  const perPurchase = Number(balance - left) / 5;
  const transactions = after.get(`relay_wallet_transactions_left{wallet="${wallet}"}`) ?? 0;
  expect(transactions / (Number(left) / perPurchase)).toBeGreaterThan(0.5);
  expect(transactions / (Number(left) / perPurchase)).toBeLessThan(2);
  // A slow receipt has a transaction sent again.
  expect(after.get('relay_broadcasts_total{answer="accepted"}')).toBeGreaterThanOrEqual(5);
  expect(Object.fromEntries(after)).toMatchObject({
    [`relay_wallet_next_nonce{wallet="${wallet}"}`]: nonce + 5,
    [`relay_wallet_in_flight{wallet="${wallet}"}`]: 0,
    [`relay_wallet_oldest_in_flight_seconds{wallet="${wallet}"}`]: 0,
    relay_accepted_waiting: 0,
    relay_oldest_accepted_seconds: 0,
    'relay_settled_total{outcome="refused"}': 1,
    'relay_settled_total{outcome="reverted"}': 0,
    relay_fee_bumps_total: 0,
    'webhook_attempts_total{outcome="delivered"}': 0,
    webhook_attempt_seconds_count: 0,
    webhook_deliveries_pending: 0,
    webhook_oldest_due_seconds: 0,
    webhook_subscriptions_undeliverable: 0,
  });
});

test("shows transactions in flight and waiting purchases, and an outage hides only its own metrics", async () => {
  const buyer = await newBuyer(chain);
  const wallet = chain.relayer.address.toLowerCase();

  const until = (what: string, condition: (samples: Samples) => boolean) =>
    scrapeUntil(stack.metricsUrl, what, condition);

  // The node refuses the transaction, which stays in flight.
  rpc.intercept((call, forward) =>
    call.method === "eth_sendRawTransaction"
      ? Promise.resolve({ error: { code: -32000, message: "the pool is full" } })
      : forward(),
  );
  const stuck = await ledger.buy(purchaseRequest(buyer.address));
  const inFlight = await until(
    "a transaction of unknown fate to be in flight for a second",
    (samples) =>
      (samples.get(`relay_wallet_oldest_in_flight_seconds{wallet="${wallet}"}`) ?? 0) > 1 &&
      (samples.get('relay_broadcasts_total{answer="unknown"}') ?? 0) > 0,
  );
  expect(inFlight.get(`relay_wallet_in_flight{wallet="${wallet}"}`)).toBe(1);

  rpc.intercept(async () => "lost");
  const waiting = await ledger.buy(purchaseRequest(buyer.address), "waits");
  const withoutNode = await until(
    "an accepted purchase to wait for a second",
    (samples) => (samples.get("relay_oldest_accepted_seconds") ?? 0) > 1,
  );
  expect(withoutNode.get("relay_accepted_waiting")).toBe(1);
  expect(withoutNode.get('relay_source_up{source="chain"}')).toBe(0);
  expect(namesWith(withoutNode, "relay_wallet_balance_wei")).toEqual([]);

  rpc.intercept();
  await ledger.settled(stuck);
  await ledger.settled(waiting);

  await database.cut();
  const started = Date.now();
  const withoutLedger = await until(
    "the ledger to be unavailable",
    (samples) => samples.get('relay_source_up{source="ledger"}') === 0,
  );
  expect(Date.now() - started).toBeLessThan(10_000);
  expect(namesWith(withoutLedger, "relay_wallet_next_nonce")).toEqual([]);
  expect(namesWith(withoutLedger, "relay_accepted_waiting")).toEqual([]);
  expect(withoutLedger.get(`relay_wallet_balance_wei{wallet="${wallet}"}`)).toBeGreaterThan(0);
  await database.mend();
  await until("the ledger to be available", (samples) => samples.get("relay_accepted_waiting") === 0);
});

test("without a testnet there are no testnet metrics", async () => {
  const samples = await scrape(stack.metricsUrl);
  expect(samples.size).toBeGreaterThan(0);
  for (const prefix of ["testnet_", "sandbox_", "faucet_"]) {
    expect(namesWith(samples, prefix)).toEqual([]);
  }
});

test("serves GET /metrics and nothing else, and names a port that is taken", async () => {
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

test("stages follow each other despite repeated, late and unordered reports", () => {
  const samples: [Stage, number][] = [];
  let clock = 0;
  const broadcast: number[] = [];
  const measured = createStages(
    (stage, seconds) => samples.push([stage, seconds]),
    (seconds) => broadcast.push(seconds),
    () => clock,
  );
  measured.begin("a", 0.5);
  measured.begin("a", 9);
  clock = 1000;
  measured.end("queue", ["a", "unknown"]);
  measured.end("queue", ["a"]);
  clock = 3000;
  measured.end("simulate", ["a"]);
  measured.end("sign", ["a"]);
  measured.alias("a", "0xa");
  measured.forget("a");
  measured.alias("0xa", "0xb");
  clock = 7000;
  // The block comes before the node's answer, with the hash at the higher fee.
  measured.end("mine", ["0xb"]);
  measured.end("broadcast", ["0xa"]);
  clock = 7500;
  measured.end("settle", ["0xb"]);
  measured.end("settle", ["0xb", "0xa"]);
  expect(samples).toEqual([
    ["accept", 0.5],
    ["queue", 1],
    ["simulate", 2],
    ["sign", 0],
    ["broadcast", 4],
    ["mine", 0],
    ["settle", 0.5],
  ]);
  expect(broadcast).toEqual([7.5]);
});

test("a bounded number of purchases is measured, without the oldest", () => {
  let settled = 0;
  const measured = createStages((stage) => {
    if (stage === "settle") settled += 1;
  });
  for (let n = 0; n < 50_000; n += 1) measured.begin(String(n), 0);
  measured.end("settle", ["0", "1", "49999"]);
  expect(settled).toBe(1);
});
