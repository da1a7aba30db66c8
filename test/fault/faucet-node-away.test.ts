/**
 * One of the two chains' nodes is away, or Postgres crashes, during claims. What this proves, checked on the chains: the
 * other chain works on, and each claim is paid in full, once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import { type Buyer, createBuyer } from "../api/support/buyer.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { claim, claimUntilPaid, expectPaidOnce, NOTHING, paidOnChain } from "./support/faucet-calls.ts";
import { buyWithRetries } from "./support/purchase-client.ts";
import { isSending } from "./support/testnet-faults.ts";
import { newClient, newClients, startTestnetSetup, type TestnetSetup } from "./support/testnet-setup.ts";

let setup: TestnetSetup;
let postgres: OwnPostgres;
let buyer: Buyer;

beforeAll(async () => {
  postgres = await startOwnPostgres("claims");
  setup = await startTestnetSetup({
    parts: "faucet",
    apiThroughProxy: true,
    databaseUrl: postgres.databaseUrl,
    env: { api: { PURCHASE_WAIT_MS: "10000" } },
  });
  const { main: chain, stack } = setup;
  const protocol = openProtocol(chain.deployment, chain.url);
  buyer = await createBuyer({ chain, stack, protocol, request: stack.request }, anvilAccount(3));
});

const policies = () => policiesOnChain(setup.main, buyer.account.address);

test("the testnet's node goes away during a claim: purchases on the main chain go on", async () => {
  const { proxy } = setup;
  const claimant = newClient();
  let broadcasts = 0;
  proxy.intercept(async (call, forward) => {
    if (!isSending(call)) return forward();
    broadcasts += 1;
    return "lost";
  });
  const waiting = claim(setup, claimant);
  await waitFor({
    what: "a broadcast",
    probe: () => broadcasts > 0 || undefined,
    intervalMs: 10,
  });
  proxy.intercept(async () => "lost");
  expect(failure(await waiting)).toEqual([503, "claim_pending"]);
  // A claim is refused while the faucet's funds are unknown.
  const late = newClient();
  const refused = await claim(setup, late);
  expect(refused.status).toBe(503);
  const status = await setup.request("/api/v1/faucet/status");
  expect(failure(status)).toEqual([503, "chain_not_found"]);

  const before = (await policies()).length;
  for (let n = 0; n < 6; n += 1) {
    await buyWithRetries(() => buyer.buy({}, { "idempotency-key": `beside-${n}` }));
  }
  expect(await policies()).toHaveLength(before + 6);
  expect(await paidOnChain(setup, late.wallet)).toEqual(NOTHING);

  proxy.intercept();
  await Promise.all([claimant, late].map((one) => claimUntilPaid(setup, one)));
  await expectPaidOnce(setup, [claimant.wallet, late.wallet]);
});

test("the main chain's node hangs: claims are still paid", async () => {
  process.kill(setup.main.pid, "SIGSTOP");
  try {
    const claimants = newClients(3);
    await Promise.all(claimants.map((one) => claimUntilPaid(setup, one)));
    await expectPaidOnce(
      setup,
      claimants.map(({ wallet }) => wallet),
    );
  } finally {
    process.kill(setup.main.pid, "SIGCONT");
  }
});

test("a writer starts while the testnet's node is away: it buys on the main chain at once, and pays claims later", async () => {
  const { proxy, stack } = setup;
  await stack.kill9("writer");
  proxy.intercept(async () => "lost");
  await stack.start("writer");
  const before = (await policies()).length;
  await buyWithRetries(() => buyer.buy({}, { "idempotency-key": "started-without" }));
  expect(await policies()).toHaveLength(before + 1);
  proxy.intercept();
  const claimant = newClient();
  await claimUntilPaid(setup, claimant);
  await expectPaidOnce(setup, [claimant.wallet]);
});

test("Postgres crashes during claims: each is paid in full, once", async () => {
  const claimants = newClients(8);
  const results = claimants.map(async (one, n) => {
    await sleep(n * 100);
    return claimUntilPaid(setup, one);
  });
  const wallets = claimants.map(({ wallet }) => wallet.toLowerCase());
  await waitFor({
    what: "three claims",
    probe: async () => {
      const rows = await setup.connection.sql`
        select 1 from service.faucet_claim where wallet = any(${wallets}::text[])`;
      return rows.length >= 3 || undefined;
    },
    intervalMs: 10,
  });
  await postgres.kill();
  await postgres.start();
  await Promise.all(results);
  await expectPaidOnce(
    setup,
    claimants.map(({ wallet }) => wallet),
  );
});
