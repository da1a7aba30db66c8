/**
 * What the sandbox needs goes away in the middle: the testnet's node, Postgres, the relayer's ether, a nonce. What this
 * proves, counted on the chains: clients are told to come back, each call's key is one policy in the end, and the main
 * chain's buyers notice nothing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { type Buyer, createBuyer } from "../api/support/buyer.ts";
import { type OwnPostgres, startOwnPostgres } from "./support/own-postgres.ts";
import {
  expectBoughtOnce,
  nextBlock,
  sandboxReady,
  severalCalls,
  tryOnce,
  tryPatiently,
} from "./support/sandbox-truth.ts";
import { isSending } from "./support/strikes.ts";
import { startTestnetWorld, type TestnetWorld } from "./support/testnet-world.ts";

let world: TestnetWorld;
let postgres: OwnPostgres;
let buyer: Buyer;

beforeAll(async () => {
  postgres = await startOwnPostgres("sandbox");
  world = await startTestnetWorld({
    parts: "sandbox",
    apiThroughProxy: true,
    env: { api: { PURCHASE_WAIT_MS: "6000" } },
    databaseUrl: postgres.databaseUrl,
  });
  const { main: chain, stack } = world;
  const protocol = openProtocol(chain.deployment, chain.url);
  buyer = await createBuyer({ chain, stack, protocol, request: stack.request }, anvilAccount(3));
  await sandboxReady(world);
});
afterEach(() => world.proxy.intercept());

const loseSendings = () =>
  world.proxy.intercept(async (call, forward) => (isSending(call) ? "lost" : forward()));

test("the testnet's node: 503 in bounded time, and the main chain's buyers notice nothing", async () => {
  const { proxy } = world;
  const fromBlock = await nextBlock(world);
  loseSendings();
  const early = severalCalls(3);
  const told = await Promise.all(early.map((call) => tryOnce(world, call)));
  expect(told.map(({ status }) => status)).toEqual([503, 503, 503]);
  proxy.intercept(async () => "lost");
  const late = severalCalls(3);
  for (const call of late) {
    const begun = performance.now();
    const answer = await tryOnce(world, call);
    expect(answer.status, answer.text).toBe(503);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(performance.now() - begun).toBeLessThan(30_000);
  }
  for (let n = 0; n < 5; n += 1) {
    expect((await buyer.buy({}, { "idempotency-key": `beside-${n}` })).status).toBe(201);
  }
  proxy.intercept();
  const bought = await Promise.all([...early, ...late].map((call) => tryPatiently(world, call)));
  await expectBoughtOnce(world, bought, fromBlock);
});

test("the main chain's node: the sandbox buys as if nothing were", async () => {
  const fromBlock = await nextBlock(world);
  process.kill(world.main.pid, "SIGSTOP");
  try {
    const answers = await Promise.all(severalCalls(3).map((call) => tryPatiently(world, call)));
    await expectBoughtOnce(world, answers, fromBlock);
  } finally {
    process.kill(world.main.pid, "SIGCONT");
  }
});

test("Postgres crashes", async () => {
  const fromBlock = await nextBlock(world);
  const bought = severalCalls(8).map(async (call, n) => {
    await sleep(n * 100);
    return tryPatiently(world, call);
  });
  await waitFor({
    what: "some of them to be on their way",
    probe: async () => {
      const rows = await world.connection.sql`
        select 1 from service.purchase where final_at is null and chain_id = ${world.testnet.deployment.chainId}`;
      return rows.length >= 3 || undefined;
    },
    timeoutMs: 60_000,
    intervalMs: 10,
  });
  await postgres.crash();
  await expectBoughtOnce(world, await Promise.all(bought), fromBlock);
});

test("a nonce of the relayer, which somebody else takes with its key", async () => {
  const { testnet, proxy, connection } = world;
  const fromBlock = await nextBlock(world);
  loseSendings();
  const [call] = severalCalls(1);
  if (!call) throw new Error("no call");
  const first = tryOnce(world, call);
  const nonce = await waitFor({
    what: "the purchase to be signed",
    probe: async () => {
      const [row] = await connection.sql<{ nonce: string }[]>`
        select nonce from service.transaction where chain_id = ${testnet.deployment.chainId} and state = 'open'`;
      return row && Number(row.nonce);
    },
    timeoutMs: 60_000,
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
  await expectBoughtOnce(world, [await tryPatiently(world, call)], fromBlock);
});

test("the relayer's ether: told that it is not ready, and bought when it is back", async () => {
  const { testnet } = world;
  const { address } = testnet.relayer;
  const fromBlock = await nextBlock(world);
  const full = await testnet.client.getBalance({ address });
  await testnet.client.setBalance({ address, value: 1n });
  const [call] = severalCalls(1);
  if (!call) throw new Error("no call");
  const refused = await waitFor({
    what: "the sandbox to say that it cannot",
    probe: async () => {
      const { json } = await world.request("/sandbox/info");
      return JSON.stringify(json).includes('"status":"unready"') ? await tryOnce(world, call) : undefined;
    },
    timeoutMs: 60_000,
  });
  expect(refused.json).toMatchObject({ error: "sandbox_unready" });
  await testnet.client.setBalance({ address, value: full });
  await expectBoughtOnce(world, [await tryPatiently(world, call)], fromBlock);
});
