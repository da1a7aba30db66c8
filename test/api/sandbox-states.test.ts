/** Sandbox responses while something is down, stopped, paused or missing, and after it recovers. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { productIdOf } from "../../lib/products.ts";
import { deactivateProduct, setRouterPaused } from "../../scripts/local/protocol/actions/index.ts";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { mineEverySecond, mineNothing, startChain, startTestnet } from "../support/chain.ts";
import { freshDatabase } from "../support/database.ts";
import { checkedRequests } from "../support/openapi.ts";
import { type Interceptor, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { failure, messageOf } from "./support/api.ts";
import { boughtOf, callOf, nonceOf, startSandbox, type TestSandbox } from "./support/sandbox.ts";

let sandbox: TestSandbox;
let node: RpcProxy;
let database: TcpProxy;
beforeAll(async () => {
  const [main, testnet] = await Promise.all([
    startChain(),
    startTestnet({ blockTime: 1, mixedMining: true }),
  ]);
  const databaseUrl = await freshDatabase();
  database = await startTcpProxy(databaseUrl);
  node = await startRpcProxy(testnet.url);
  sandbox = await startSandbox({
    chains: { main, testnet },
    databaseUrl,
    env: { api: { DATABASE_URL: database.url, TESTNET_RPC_URL: node.url } },
  });
  await sandbox.until();
});

const owner = () => sandbox.testnet.owner;
const stop = (scope: string, subject: string) =>
  sandbox.connection
    .sql`insert into service.stop (scope, subject, reason) values (${scope}, ${subject}, 'test')`;
const resume = () => sandbox.connection.sql`truncate service.stop`;

type Obstacle = {
  name: string;
  begin: () => Promise<unknown>;
  end: () => Promise<unknown>;
  expected: readonly [status: number, code: string];
};

/** States of the chain that make a purchase fail before it is sent: an example; purchase-outcomes.test.ts has the others. */
const obstacles: Obstacle[] = [
  {
    name: "the router is paused",
    begin: () => setRouterPaused(sandbox.protocol, owner(), true),
    end: () => setRouterPaused(sandbox.protocol, owner(), false),
    expected: [503, "contract_paused"],
  },
];

/** The api caches chain state for at most 1 s. */
const CACHE_MS = 1200;
const waitForCacheExpiry = () => new Promise((resolve) => setTimeout(resolve, CACHE_MS));

test.each(obstacles)("while $name a call fails and costs no gas", async ({ begin, end, expected }) => {
  const relayer = serviceWallets.relayer.address;
  await begin();
  try {
    await waitForCacheExpiry();
    const before = await nonceOf(sandbox, relayer);
    const answer = await sandbox.buy();
    expect(failure(answer)).toEqual(expected);
    expect(answer.headers.has("retry-after")).toBe(answer.status === 503);
    expect(await nonceOf(sandbox, relayer)).toBe(before);
  } finally {
    await end();
  }
  await waitForCacheExpiry();
  boughtOf(await sandbox.buy());
});

test("a deactivated product gets 422, and the other products can be bought", async () => {
  await deactivateProduct(sandbox.protocol, owner(), productIdOf("FLASHETH48-001"));
  await waitForCacheExpiry();
  expect(failure(await sandbox.buy({ productName: "FLASHETH48-001" }))).toEqual([422, "product_inactive"]);
  boughtOf(await sandbox.buy({ productName: "FLASHETH24-001" }));
});

describe("the operator's stop", () => {
  test.each([
    ["of everything", "global", ""],
    ["of the sandbox's wallet", "wallet", serviceWallets.sandbox.address.toLowerCase()],
  ])("%s disables the sandbox until it is lifted", async (_, scope, subject) => {
    const key = { "idempotency-key": randomUUID() };
    const { txHash } = boughtOf(await sandbox.buy({}, key));
    await stop(scope, subject);
    const info = await sandbox.until(({ enabled }) => !enabled);
    expect(info).toMatchObject({ status: "disabled", reason: expect.stringContaining("operator") });
    const answer = await sandbox.buy();
    expect([...failure(answer), answer.headers.get("retry-after")]).toEqual([503, "purchases_stopped", "30"]);
    // A policy bought before the stop is still returned.
    expect(boughtOf(await sandbox.buy({}, key)).txHash).toBe(txHash);
    await resume();
    await sandbox.until();
    boughtOf(await sandbox.buy());
  });
});

test("without a writer the sandbox is unready and still returns bought policies, until a writer runs", async () => {
  const key = { "idempotency-key": randomUUID() };
  const { txHash } = boughtOf(await sandbox.buy({}, key));
  await sandbox.stack.stopService("writer");
  const info = await sandbox.until(({ status }) => status !== "ready");
  expect(info).toMatchObject({ enabled: true, status: "unready", sandboxWallet: expect.any(String) });
  const answer = await sandbox.buy();
  expect(failure(answer)).toEqual([503, "relayer_unavailable"]);
  expect(messageOf(answer)).toBe(info.reason);
  await waitForCacheExpiry();
  expect(boughtOf(await sandbox.buy({}, key)).txHash).toBe(txHash);
  // The next writer begins by taking the wallets. From then on it is relied on.
  await sandbox.connection.sql`update service.relayer_wallet set lease_owner = 'next', heartbeat_at = now()`;
  await sandbox.until();
  const next = sandbox.buy();
  await sandbox.stack.start("writer");
  boughtOf(await next);
});

test("without the testnet's node new calls get 503, bought policies are returned, and the main chain works", async () => {
  const key = { "idempotency-key": randomUUID() };
  const { txHash } = boughtOf(await sandbox.buy({}, key));
  const faults: Interceptor[] = [async () => "lost", () => new Promise<never>(() => {})];
  for (const fault of faults) {
    node.intercept(fault);
    await waitForCacheExpiry();
    const begun = performance.now();
    const answers = await Promise.all([sandbox.buy(), sandbox.request(`/sandbox/transactions/${txHash}`)]);
    expect(answers.map(failure)).toEqual(answers.map(() => [503, "chain_not_found"]));
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(boughtOf(await sandbox.buy({}, key)).txHash).toBe(txHash);
    expect((await sandbox.request("/products")).status).toBe(200);
    expect(await sandbox.info()).toMatchObject({ enabled: true });
  }
  node.intercept();
  await waitForCacheExpiry();
  boughtOf(await sandbox.buy());
});

test("without the database a call gets 503 database_unavailable", async () => {
  await database.cut();
  expect(failure(await sandbox.buy())).toEqual([503, "database_unavailable"]);
  expect(failure(await sandbox.request("/sandbox/info"))).toEqual([503, "database_unavailable"]);
  await database.mend();
  await sandbox.until();
  boughtOf(await sandbox.buy());
});

test("a call pending after the wait gets an Idempotency-Key that returns its result to the same client only", async () => {
  const { main: chain, testnet, stack } = sandbox;
  const env = { api: { PURCHASE_WAIT_MS: "1", TRUST_PROXY: "loopback" } };
  const hasty = await startStack({ chain, testnet, databaseUrl: stack.databaseUrl, services: ["api"], env });
  const request = await checkedRequests(hasty.apiUrl);
  const call = (headers: Record<string, string>) => request("/sandbox/try", callOf({}, headers));
  await mineNothing(testnet);
  const pending = await call({ "x-forwarded-for": "198.51.100.1" });
  await mineEverySecond(testnet);
  expect([...failure(pending), pending.headers.get("retry-after")]).toEqual([503, "purchase_pending", "5"]);
  const key = pending.headers.get("idempotency-key") ?? "";
  expect(messageOf(pending)).toContain(`Idempotency-Key: ${key}`);
  const repeat = () => call({ "x-forwarded-for": "198.51.100.1", "idempotency-key": key });
  await expect.poll(async () => (await repeat()).status).toBe(200);
  const first = boughtOf(await repeat());
  expect(boughtOf(await repeat()).txHash).toBe(first.txHash);
  // Another client's call under the same key is another purchase.
  const other = await call({ "x-forwarded-for": "198.51.100.2", "idempotency-key": key });
  if (other.status === 200) expect(boughtOf(other).txHash).not.toBe(first.txHash);
  else expect(failure(other)).toEqual([503, "purchase_pending"]);
});

describe("a disabled sandbox", () => {
  const disabled = { enabled: false, status: "disabled", sandboxWallet: null, funds: null };

  test("without a sandbox wallet: the info is disabled, and a call gets 503", async () => {
    const none = await startSandbox({ chains: sandbox, testnetKeys: { sandbox: null, faucet: undefined } });
    expect(await none.info()).toMatchObject(disabled);
    const answer = await none.buy();
    expect([...failure(answer), answer.headers.get("retry-after")]).toEqual([503, "sandbox_disabled", "30"]);
    expect(failure(await none.buy({ productName: 1 }))).toEqual([400, "validation_error"]);
  });

  test("without a testnet: the info is disabled, and calls, transactions and policies get 503", async () => {
    const stack = await startStack({ chain: sandbox.main, services: ["api"] });
    const request = await checkedRequests(stack.apiUrl);
    const info = await request("/sandbox/info");
    expect([info.status, info.json]).toEqual([200, expect.objectContaining({ ...disabled, chainId: null })]);
    expect(failure(await request("/sandbox/try", callOf()))).toEqual([503, "sandbox_disabled"]);
    for (const path of [`transactions/0x${"12".repeat(32)}`, `policies/${productIdOf("FLASHBTC1H-001")}/1`]) {
      expect(failure(await request(`/sandbox/${path}`))).toEqual([503, "sandbox_disabled"]);
    }
  });
});
