/**
 * One of the two chains is away, and Postgres goes away in the middle. What this proves, counted on the chains: the other
 * chain's clients notice nothing, and what was claimed is paid in full, once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import { type Buyer, createBuyer } from "../api/support/buyer.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { claim, claimPatiently, expectPaidOnce, NOTHING, paidOnChain } from "./support/faucet-truth.ts";
import { type OwnPostgres, startOwnPostgres } from "./support/own-postgres.ts";
import { isSending } from "./support/strikes.ts";
import { newcomer, newcomers, startTestnetWorld, type TestnetWorld } from "./support/testnet-world.ts";

let world: TestnetWorld;
let postgres: OwnPostgres;
let buyer: Buyer;

beforeAll(async () => {
  postgres = await startOwnPostgres("claims");
  world = await startTestnetWorld({
    parts: "faucet",
    apiThroughProxy: true,
    databaseUrl: postgres.databaseUrl,
    env: { api: { PURCHASE_WAIT_MS: "10000" } },
  });
  const { main: chain, stack } = world;
  const protocol = openProtocol(chain.deployment, chain.url);
  buyer = await createBuyer({ chain, stack, protocol, request: stack.request }, anvilAccount(3));
});

const policies = () => policiesOnChain(world.main, buyer.account.address);

test("the testnet's node goes away over a claim: purchases on the main chain go on as if nothing were", async () => {
  const { proxy } = world;
  const who = newcomer();
  let sendings = 0;
  proxy.intercept(async (call, forward) => {
    if (!isSending(call)) return forward();
    sendings += 1;
    return "lost";
  });
  const waiting = claim(world, who);
  await waitFor({
    what: "a sending",
    probe: () => sendings > 0 || undefined,
    timeoutMs: 60_000,
    intervalMs: 10,
  });
  proxy.intercept(async () => "lost");
  expect(failure(await waiting)).toEqual([503, "claim_pending"]);
  // Nothing is promised when it is not known what there is.
  const late = newcomer();
  const refused = await claim(world, late);
  expect(refused.status).toBe(503);
  const status = await world.request("/api/v1/faucet/status");
  expect(failure(status)).toEqual([503, "chain_not_found"]);

  const before = (await policies()).length;
  for (let n = 0; n < 6; n += 1) {
    const begun = performance.now();
    expect((await buyer.buy({}, { "idempotency-key": `beside-${n}` })).status).toBe(201);
    expect(performance.now() - begun).toBeLessThan(20_000);
  }
  expect(await policies()).toHaveLength(before + 6);
  expect(await paidOnChain(world, late.wallet)).toEqual(NOTHING);

  proxy.intercept();
  await Promise.all([who, late].map((one) => claimPatiently(world, one)));
  await expectPaidOnce(world, [who.wallet, late.wallet]);
});

test("the main chain's node falls asleep: claims are paid as if nothing were", async () => {
  process.kill(world.main.pid, "SIGSTOP");
  try {
    const claimants = newcomers(3);
    const answers = await Promise.all(claimants.map((one) => claim(world, one)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await expectPaidOnce(
      world,
      claimants.map(({ wallet }) => wallet),
    );
  } finally {
    process.kill(world.main.pid, "SIGCONT");
  }
});

test("a writer that starts while the testnet's node is away relays for the main chain at once, and pays later", async () => {
  const { proxy, stack } = world;
  await stack.kill9("writer");
  proxy.intercept(async () => "lost");
  await stack.start("writer");
  const before = (await policies()).length;
  expect([200, 201]).toContain((await buyer.buy({}, { "idempotency-key": "started-without" })).status);
  expect(await policies()).toHaveLength(before + 1);
  proxy.intercept();
  const who = newcomer();
  await claimPatiently(world, who);
  await expectPaidOnce(world, [who.wallet]);
});

test("Postgres crashes over claims: each is paid in full, once", async () => {
  const claimants = newcomers(8);
  const told = claimants.map(async (one, n) => {
    await sleep(n * 100);
    return claimPatiently(world, one);
  });
  const wallets = claimants.map(({ wallet }) => wallet.toLowerCase());
  await waitFor({
    what: "some of the claims",
    probe: async () => {
      const rows = await world.connection.sql`
        select 1 from service.faucet_claim where wallet = any(${wallets}::text[])`;
      return rows.length >= 3 || undefined;
    },
    timeoutMs: 60_000,
    intervalMs: 10,
  });
  await postgres.crash();
  await Promise.all(told);
  await expectPaidOnce(
    world,
    claimants.map(({ wallet }) => wallet),
  );
});
