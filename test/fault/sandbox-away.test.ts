/**
 * Outages during sandbox purchases: the testnet's node, the main chain's node, Postgres, the relayer's nonce, its ether.
 * What this proves, checked on the chains: clients get 503 and, after a retry, one policy per key; purchases on the main
 * chain go on.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { productIdOf } from "../../lib/products.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { type Buyer, createBuyer } from "../api/support/buyer.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { buyWithRetries } from "./support/purchase-client.ts";
import {
  expectBoughtOnce,
  nextBlock,
  severalCalls,
  tryOnce,
  tryUntilBought,
  waitUntilSandboxReady,
} from "./support/sandbox-calls.ts";
import { isSending } from "./support/testnet-faults.ts";
import { startTestnetSetup, type TestnetSetup } from "./support/testnet-setup.ts";

let setup: TestnetSetup;
let postgres: OwnPostgres;
let buyer: Buyer;

beforeAll(async () => {
  postgres = await startOwnPostgres("sandbox");
  setup = await startTestnetSetup({
    parts: "sandbox",
    apiThroughProxy: true,
    env: { api: { PURCHASE_WAIT_MS: "6000" } },
    databaseUrl: postgres.databaseUrl,
  });
  const { main: chain, stack } = setup;
  const protocol = openProtocol(chain.deployment, chain.url);
  buyer = await createBuyer({ chain, stack, protocol, request: stack.request }, anvilAccount(3));
  await waitUntilSandboxReady(setup);
});
afterEach(() => setup.proxy.intercept());

const loseTransactions = () =>
  setup.proxy.intercept(async (call, forward) => (isSending(call) ? "lost" : forward()));

test("the testnet's node is away: calls get 503 within 30 s, and purchases on the main chain go on", async () => {
  const { proxy } = setup;
  const fromBlock = await nextBlock(setup);
  loseTransactions();
  const early = severalCalls(3);
  const answers = await Promise.all(early.map((call) => tryOnce(setup, call)));
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
  proxy.intercept(async () => "lost");
  const policy = await setup.request(`/sandbox/policies/${productIdOf("FLASHBTC1H-001")}/1`);
  expect([policy.status, policy.json]).toEqual([503, expect.objectContaining({ error: "chain_not_found" })]);
  const late = severalCalls(3);
  for (const call of late) {
    const begun = performance.now();
    const answer = await tryOnce(setup, call);
    expect(answer.status, answer.text).toBe(503);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(performance.now() - begun).toBeLessThan(30_000);
  }
  for (let n = 0; n < 5; n += 1) {
    await buyWithRetries(() => buyer.buy({}, { "idempotency-key": `beside-${n}` }));
  }
  proxy.intercept();
  const bought = await Promise.all([...early, ...late].map((call) => tryUntilBought(setup, call)));
  await expectBoughtOnce(setup, bought, fromBlock);
});

test("the main chain's node hangs: the sandbox still buys", async () => {
  const fromBlock = await nextBlock(setup);
  process.kill(setup.main.pid, "SIGSTOP");
  try {
    const bought = await Promise.all(severalCalls(3).map((call) => tryUntilBought(setup, call)));
    await expectBoughtOnce(setup, bought, fromBlock);
  } finally {
    process.kill(setup.main.pid, "SIGCONT");
  }
});

test("Postgres crashes during purchases: each key buys one policy", async () => {
  const fromBlock = await nextBlock(setup);
  const bought = severalCalls(8).map(async (call, n) => {
    await sleep(n * 100);
    return tryUntilBought(setup, call);
  });
  await waitFor({
    what: "three purchases to be open",
    probe: async () => {
      const rows = await setup.connection.sql`
        select 1 from service.purchase_progress where final_at is null and chain_id = ${setup.testnet.deployment.chainId}`;
      return rows.length >= 3 || undefined;
    },
    intervalMs: 10,
  });
  await postgres.kill();
  await postgres.start();
  await expectBoughtOnce(setup, await Promise.all(bought), fromBlock);
});

test("another program uses the relayer's nonce: bought once under another nonce", async () => {
  const { testnet, proxy, connection } = setup;
  const fromBlock = await nextBlock(setup);
  loseTransactions();
  const [call] = severalCalls(1);
  if (!call) throw new Error("no call");
  const first = tryOnce(setup, call);
  const nonce = await waitFor({
    what: "the purchase to be signed",
    probe: async () => {
      const [row] = await connection.sql<{ nonce: string }[]>`
        select nonce from service.transaction where chain_id = ${testnet.deployment.chainId} and state = 'open'`;
      return row && Number(row.nonce);
    },
  });
  const hash = await testnet.client.sendTransaction({
    account: testnet.relayer,
    to: testnet.owner.address,
    value: 1n,
    nonce,
    chain: null,
  });
  await testnet.client.waitForTransactionReceipt({ hash });
  expect((await first).status).toBe(503);
  proxy.intercept();
  await testnet.client.mine({ blocks: 3 });
  await expectBoughtOnce(setup, [await tryUntilBought(setup, call)], fromBlock);
});

test("the relayer is out of ether: calls get sandbox_unready, and buy once it is refilled", async () => {
  const { testnet } = setup;
  const { address } = testnet.relayer;
  const fromBlock = await nextBlock(setup);
  const full = await testnet.client.getBalance({ address });
  await testnet.client.setBalance({ address, value: 1n });
  const [call] = severalCalls(1);
  if (!call) throw new Error("no call");
  const refused = await waitFor({
    what: "the sandbox to be unready",
    probe: async () => {
      const { json } = await setup.request("/sandbox/info");
      return JSON.stringify(json).includes('"status":"unready"') ? await tryOnce(setup, call) : undefined;
    },
  });
  expect(refused.json).toMatchObject({ error: "sandbox_unready" });
  await testnet.client.setBalance({ address, value: full });
  await expectBoughtOnce(setup, [await tryUntilBought(setup, call)], fromBlock);
});
