/**
 * Outages during claims and the sandbox's purchases: the testnet's node, the main chain's node, Postgres, the relayer's nonce, its
 * ether. What this proves, checked on the chains: clients get 503 and, after a retry, one policy per key and each grant once, in full;
 * purchases on the main chain go on.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { productIdOf } from "../../lib/products.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import { type Buyer, createBuyer } from "../api/support/buyer.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { claim, claimUntilPaid, expectPaidOnce, NOTHING, paidOnChain } from "./support/faucet-calls.ts";
import { buyWithRetries } from "./support/purchase-client.ts";
import {
  expectBoughtOnce,
  nextBlock,
  severalCalls,
  tryOnce,
  tryUntilBought,
  waitUntilSandboxReady,
} from "./support/sandbox-calls.ts";
import { sendingAgainAtOnce } from "./support/send-again.ts";
import { isSending } from "./support/testnet-faults.ts";
import {
  type NewClient,
  newClient,
  newClients,
  startTestnetSetup,
  type TestnetSetup,
} from "./support/testnet-setup.ts";

let setup: TestnetSetup;
let postgres: OwnPostgres;
let buyer: Buyer;

beforeAll(async () => {
  postgres = await startOwnPostgres("testnet");
  setup = await startTestnetSetup({
    parts: "both",
    apiThroughProxy: true,
    env: { api: { PURCHASE_WAIT_MS: "4000" } },
    databaseUrl: postgres.databaseUrl,
  });
  const { main: chain, stack } = setup;
  const protocol = openProtocol(chain.deployment, chain.url);
  buyer = await createBuyer({ chain, stack, protocol, request: stack.request }, anvilAccount(3));
  await waitUntilSandboxReady(setup);
});
afterEach(() => setup.proxy.intercept());

const walletsOf = (clients: readonly NewClient[]) => clients.map(({ wallet }) => wallet);

/** Buys policies on the main chain, which become that many more. */
async function buyOnMainChain(name: string, count: number): Promise<void> {
  const policies = () => policiesOnChain(setup.main, buyer.account.address);
  const before = (await policies()).length;
  for (let n = 0; n < count; n += 1)
    await buyWithRetries(() => buyer.buy({}, { "idempotency-key": `${name}-${n}` }));
  expect(await policies()).toHaveLength(before + count);
}

test("the testnet's node goes away during claims and purchases: 503 within 30 s, and purchases on the main chain go on", async () => {
  const { proxy, connection } = setup;
  const fromBlock = await nextBlock(setup);
  const [earlyCalls, claimant] = [severalCalls(3), newClient()];
  const sent = new Set<unknown>();
  proxy.intercept(async (call, forward) => {
    if (!isSending(call)) return forward();
    sent.add(call.params[0]);
    return "lost";
  });
  const answers = Promise.all(earlyCalls.map((call) => tryOnce(setup, call)));
  const claimed = claim(setup, claimant);
  await waitFor({
    what: "three purchases and both transfers of the claim to be sent",
    probe: () => sent.size >= 5 || undefined,
    intervalMs: 10,
  });
  proxy.intercept(async () => "lost");
  expect(failure(await claimed)).toEqual([503, "claim_pending"]);
  expect((await answers).map(({ status }) => status)).toEqual([503, 503, 503]);

  const policy = await setup.request(`/sandbox/policies/${productIdOf("FLASHBTC1H-001")}/1`);
  expect([policy.status, policy.json]).toEqual([503, expect.objectContaining({ error: "chain_not_found" })]);
  expect(failure(await setup.request("/api/v1/faucet/status"))).toEqual([503, "chain_not_found"]);
  const lateCalls = severalCalls(2);
  for (const call of lateCalls) {
    const begun = performance.now();
    const answer = await tryOnce(setup, call);
    expect(answer.status, answer.text).toBe(503);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(performance.now() - begun).toBeLessThan(30_000);
  }
  // A claim is refused while the faucet's funds are unknown.
  const late = newClient();
  expect((await claim(setup, late)).status).toBe(503);
  await buyOnMainChain("beside", 3);
  expect(await paidOnChain(setup, late.wallet)).toEqual(NOTHING);

  proxy.intercept();
  const [bought] = await sendingAgainAtOnce(
    connection.sql,
    Promise.all([
      Promise.all([...earlyCalls, ...lateCalls].map((call) => tryUntilBought(setup, call))),
      Promise.all([claimant, late].map((one) => claimUntilPaid(setup, one))),
    ]),
  );
  await expectBoughtOnce(setup, bought, fromBlock);
  await expectPaidOnce(setup, walletsOf([claimant, late]));
});

test("the main chain's node hangs: the sandbox still buys, and claims are still paid", async () => {
  const fromBlock = await nextBlock(setup);
  process.kill(setup.main.pid, "SIGSTOP");
  try {
    const claimants = newClients(3);
    const [bought] = await Promise.all([
      Promise.all(severalCalls(3).map((call) => tryUntilBought(setup, call))),
      Promise.all(claimants.map((one) => claimUntilPaid(setup, one))),
    ]);
    await expectBoughtOnce(setup, bought, fromBlock);
    await expectPaidOnce(setup, walletsOf(claimants));
  } finally {
    process.kill(setup.main.pid, "SIGCONT");
  }
});

test("a writer starts while the testnet's node is away: it buys on the main chain at once, and pays claims later", async () => {
  const { proxy, stack, connection } = setup;
  await stack.kill9("writer");
  proxy.intercept(async () => "lost");
  await connection.sql`update service.relayer_wallet set lease_until = now()`;
  await stack.start("writer");
  await buyOnMainChain("started-without", 1);
  proxy.intercept();
  const claimant = newClient();
  await claimUntilPaid(setup, claimant);
  await expectPaidOnce(setup, [claimant.wallet]);
});

test("Postgres crashes during claims and purchases: each is paid in full, once, and each key buys one policy", async () => {
  const { testnet, connection } = setup;
  const fromBlock = await nextBlock(setup);
  const claimants = newClients(6);
  const paid = claimants.map(async (one, n) => {
    await sleep(n * 100);
    return claimUntilPaid(setup, one);
  });
  const bought = severalCalls(6).map(async (call, n) => {
    await sleep(n * 100);
    return tryUntilBought(setup, call);
  });
  const wallets = walletsOf(claimants).map((wallet) => wallet.toLowerCase());
  await waitFor({
    what: "two claims, and two purchases to be open",
    probe: async () => {
      const claims = await connection.sql`
        select 1 from service.faucet_claim where wallet = any(${wallets}::text[])`;
      const open = await connection.sql`
        select 1 from service.purchase_progress where final_at is null and chain_id = ${testnet.deployment.chainId}`;
      return (claims.length >= 2 && open.length >= 2) || undefined;
    },
    intervalMs: 10,
  });
  await postgres.kill();
  await postgres.start();
  await Promise.all(paid);
  await expectBoughtOnce(setup, await Promise.all(bought), fromBlock);
  await expectPaidOnce(setup, walletsOf(claimants));
});

test("another program uses the relayer's nonce: bought once under another nonce", async () => {
  const { testnet, proxy, connection } = setup;
  const fromBlock = await nextBlock(setup);
  proxy.intercept(async (call, forward) => (isSending(call) ? "lost" : forward()));
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
  const bought = await sendingAgainAtOnce(connection.sql, tryUntilBought(setup, call));
  await expectBoughtOnce(setup, [bought], fromBlock);
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
