/**
 * An unpaid claim stops counting towards the limits only once it is certain that no transfer of it was signed. What this
 * proves, checked on the chain: then the client may claim again at once and is paid once; every other claim keeps
 * counting.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { afterEach, beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import {
  claim,
  claimOnceAvailable,
  claimUntilPaid,
  expectPaidOnce,
  NOTHING,
  ONCE,
  paidOnChain,
} from "./support/faucet-calls.ts";
import { isSending } from "./support/testnet-faults.ts";
import {
  mineUntilFinal,
  type NewClient,
  newClient,
  newClients,
  startTestnetSetup,
  type TestnetSetup,
} from "./support/testnet-setup.ts";

let setup: TestnetSetup;
beforeAll(async () => {
  setup = await startTestnetSetup({ parts: "faucet" });
});
afterEach(() => setup.proxy.intercept());

/** Backdates the transfers of a client's claim that wait to be signed. */
const backdate = (sql: Sql, { wallet }: NewClient, seconds: number) => sql`
  update service.waiting w set created_at = w.created_at - make_interval(secs => ${seconds})
  from service.faucet_claim c where c.id = w.group_id and c.wallet = ${wallet.toLowerCase()}`;

const claimsOf = ({ wallet }: NewClient) => setup.connection.sql<{ id: string; freed: boolean }[]>`
  select id, freed_at is not null as freed from service.faucet_claim where wallet = ${wallet.toLowerCase()}
  order by claimed_at`;

const waitUntilFreed = (client: NewClient) =>
  waitFor({
    what: "the claim to be freed",
    probe: async () => ((await claimsOf(client)).every(({ freed }) => freed) ? true : undefined),
  });

test("the node is away until the claim expires: its wallet is paid by its next call", async () => {
  const client = newClient();
  setup.proxy.intercept(async () => "lost");
  expect(failure(await claim(setup, client))).toEqual([503, "claim_pending"]);
  // Meanwhile the claim counts towards the limits of its wallet and its address.
  expect(failure(await claim(setup, { ...newClient(), wallet: client.wallet }))).toEqual([
    429,
    "wallet_rate_limited",
  ]);
  expect(failure(await claim(setup, { ...newClient(), ip: client.ip }))).toEqual([429, "ip_rate_limited"]);
  await backdate(setup.connection.sql, client, 57);
  await waitUntilFreed(client);
  setup.proxy.intercept();
  const { seen } = await claimUntilPaid(setup, client);
  expect(seen.at(-1)).toBe("200");
  await expectPaidOnce(setup, [client.wallet]);
});

test("a claim expires while its call waits: that call answers 503, and the next one is paid", async () => {
  const client = newClient();
  setup.proxy.intercept(async () => "lost");
  const waiting = claim(setup, client);
  await waitFor({ what: "the claim", probe: async () => (await claimsOf(client)).at(0) });
  await backdate(setup.connection.sql, client, 61);
  const [status, code] = failure(await waiting);
  expect(status).toBe(503);
  expect(["claim_expired", "claim_pending", "chain_not_found"]).toContain(code);
  setup.proxy.intercept();
  await claimUntilPaid(setup, client);
  await expectPaidOnce(setup, [client.wallet]);
});

test("the node hangs during fifteen claims: all of them are freed at once, not one after the other", async () => {
  const claimants = newClients(15);
  setup.proxy.intercept(() => new Promise(() => {}));
  await Promise.all(claimants.map((one) => claim(setup, one)));
  await Promise.all(claimants.map((one) => backdate(setup.connection.sql, one, 61)));
  await Promise.all(claimants.map(waitUntilFreed));
  setup.proxy.intercept();
  await expectPaidOnce(
    setup,
    [],
    claimants.map(({ wallet }) => wallet),
  );
});

test("a wallet that rejects ether gets nothing, and its address may claim for another wallet", async () => {
  const { testnet } = setup;
  const client = newClient();
  // PUSH0 PUSH0 REVERT
  await testnet.client.setCode({ address: client.wallet, bytecode: "0x5f5ffd" });
  const answer = await claim(setup, client);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  await waitUntilFreed(client);
  expect(await paidOnChain(setup, client.wallet)).toEqual(NOTHING);
  const other = { ...newClient(), ip: client.ip };
  await claimUntilPaid(setup, other);
  await expectPaidOnce(setup, [other.wallet], [client.wallet]);
});

test("claims are freed while they are signed: each is paid in full or not at all, and never twice", async () => {
  const claimants = newClients(30);
  const answers = await Promise.all(
    claimants.map(async (one, n) => {
      const answer = claimOnceAvailable(setup, one);
      answer.catch(() => {}); // awaited below
      const stored = await waitFor({
        what: "the claim",
        probe: async () => (await claimsOf(one)).at(0),
        intervalMs: 5,
      });
      // Some claims are freed before they are signed, some after.
      await sleep(n * 10);
      await setup.connection
        .sql`select service.free_claim(${stored.id}::uuid, 'claim_expired', 'freed by a test')`;
      return answer;
    }),
  );
  await mineUntilFinal(setup);
  const outcomes = await Promise.all(
    claimants.map(async (one) => {
      const [claims, paid] = [await claimsOf(one), await paidOnChain(setup, one.wallet)];
      expect(paid, `freed: ${claims.map(({ freed }) => freed)}`).toEqual(
        claims.at(0)?.freed ? NOTHING : ONCE,
      );
      return claims.at(0)?.freed;
    }),
  );
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(
    outcomes.filter((freed) => !freed).length,
  );
  console.log(`freed: ${outcomes.filter(Boolean).length} of ${outcomes.length}`);
  // Unpaid clients may claim again.
  const unpaid = claimants.filter((_, n) => outcomes[n]);
  await Promise.all(unpaid.map((one) => claimUntilPaid(setup, one)));
  await expectPaidOnce(
    setup,
    claimants.map(({ wallet }) => wallet),
  );
});

test("a wallet rejects ether after its claim is signed: one call answers onchain_revert, and it is never paid again", async () => {
  const { testnet, proxy } = setup;
  const client = newClient();
  let rejecting: Promise<unknown> | undefined;
  proxy.intercept(async (call, forward) => {
    if (isSending(call)) {
      rejecting ??= testnet.client.setCode({ address: client.wallet, bytecode: "0x5f5ffd" });
      await rejecting;
    }
    return forward();
  });
  const outcome = await waitFor({
    what: "the outcome of the claim",
    probe: async () => {
      const answer = await claim(setup, client);
      return answer.status === 502 ? answer : undefined;
    },
    intervalMs: 300,
  });
  expect(failure(outcome)).toEqual([502, "onchain_revert"]);
  expect(await paidOnChain(setup, client.wallet)).toEqual({ ether: 0n, usdc: ONCE.usdc });
  await testnet.client.setCode({ address: client.wallet, bytecode: "0x" });
  expect(failure(await claim(setup, client))).toEqual([429, "wallet_rate_limited"]);
  await mineUntilFinal(setup);
  expect(await paidOnChain(setup, client.wallet)).toEqual({ ether: 0n, usdc: ONCE.usdc });
});
