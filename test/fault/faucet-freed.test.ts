/**
 * A claim that cannot be paid gives its slot back only when it is proven that nothing of it was signed. What this proves,
 * counted on the chain: whoever is told that nothing was sent may claim at once and is paid once, all others keep the
 * claim that they have.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { afterEach, beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import { claim, claimPatiently, expectPaidOnce, NOTHING, ONCE, paidOnChain } from "./support/faucet-truth.ts";
import { isSending } from "./support/strikes.ts";
import {
  atRest,
  type Newcomer,
  newcomer,
  newcomers,
  startTestnetWorld,
  type TestnetWorld,
} from "./support/testnet-world.ts";

let world: TestnetWorld;
beforeAll(async () => {
  world = await startTestnetWorld({ parts: "faucet" });
});
afterEach(() => world.proxy.intercept());

/** As if so many seconds had gone by since its transfers were asked for. */
const age = (sql: Sql, who: Newcomer, seconds: number) => sql`
  update service.errand e set created_at = e.created_at - make_interval(secs => ${seconds})
  from service.faucet_claim c where c.id = e.claim_id and c.wallet = ${who.wallet.toLowerCase()}`;

const claimsOf = (who: Newcomer) => world.connection.sql<{ id: string; freed: boolean }[]>`
  select id, freed_at is not null as freed from service.faucet_claim where wallet = ${who.wallet.toLowerCase()}
  order by claimed_at`;

const isFreed = (who: Newcomer) =>
  waitFor({
    what: "the claim to be given up",
    probe: async () => ((await claimsOf(who)).every(({ freed }) => freed) ? true : undefined),
    timeoutMs: 60_000,
  });

test("the node is away until nobody would sign any more: told so, and the wallet is paid by its next call", async () => {
  const who = newcomer();
  world.proxy.intercept(async () => "lost");
  expect(failure(await claim(world, who))).toEqual([503, "claim_pending"]);
  // Its slots are taken meanwhile, for everybody.
  expect(failure(await claim(world, { ...newcomer(), wallet: who.wallet }))).toEqual([
    429,
    "wallet_rate_limited",
  ]);
  expect(failure(await claim(world, { ...newcomer(), from: who.from }))).toEqual([429, "ip_rate_limited"]);
  await age(world.connection.sql, who, 57);
  await isFreed(who);
  world.proxy.intercept();
  const { seen } = await claimPatiently(world, who);
  expect(seen.at(-1)).toBe("200");
  await expectPaidOnce(world, [who.wallet]);
});

test("who waits for it is told in the same call", async () => {
  const who = newcomer();
  world.proxy.intercept(async () => "lost");
  const waiting = claim(world, who);
  await waitFor({ what: "the claim", probe: async () => (await claimsOf(who)).at(0), timeoutMs: 60_000 });
  await age(world.connection.sql, who, 61);
  const [status, code] = failure(await waiting);
  expect(status).toBe(503);
  expect(["claim_expired", "claim_pending", "chain_not_found"]).toContain(code);
  world.proxy.intercept();
  await claimPatiently(world, who);
  await expectPaidOnce(world, [who.wallet]);
});

test("the node hangs over many claims: all of them are given up soon, not one after the other", async () => {
  const claimants = newcomers(15);
  world.proxy.intercept(() => new Promise(() => {}));
  await Promise.all(claimants.map((one) => claim(world, one)));
  await Promise.all(claimants.map((one) => age(world.connection.sql, one, 61)));
  await Promise.all(claimants.map(isFreed));
  world.proxy.intercept();
  await expectPaidOnce(
    world,
    [],
    claimants.map(({ wallet }) => wallet),
  );
});

test("a wallet that takes no ether gets nothing at all, and its address may claim for another", async () => {
  const { testnet } = world;
  const who = newcomer();
  // PUSH0 PUSH0 REVERT
  await testnet.client.setCode({ address: who.wallet, bytecode: "0x5f5ffd" });
  const answer = await claim(world, who);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  await isFreed(who);
  expect(await paidOnChain(world, who.wallet)).toEqual(NOTHING);
  const other = { ...newcomer(), from: who.from };
  await claimPatiently(world, other);
  await expectPaidOnce(world, [other.wallet], [who.wallet]);
});

test("given up and signed at the same moment: each claim is paid in full or not at all, and never twice", async () => {
  const claimants = newcomers(30);
  const answers = await Promise.all(
    claimants.map(async (one, n) => {
      const asked = claim(world, one);
      const made = await waitFor({
        what: "the claim",
        probe: async () => (await claimsOf(one)).at(0),
        timeoutMs: 60_000,
        intervalMs: 5,
      });
      // From at once to about when it is signed, and later.
      await sleep(n * 10);
      await world.connection
        .sql`select service.free_claim(${made.id}::uuid, 'claim_expired', 'a test gave it up')`;
      return asked;
    }),
  );
  await atRest(world);
  const outcomes = await Promise.all(
    claimants.map(async (one) => {
      const [books, paid] = [await claimsOf(one), await paidOnChain(world, one.wallet)];
      expect(paid, `freed: ${books.map(({ freed }) => freed)}`).toEqual(books.at(0)?.freed ? NOTHING : ONCE);
      return books.at(0)?.freed;
    }),
  );
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(
    outcomes.filter((freed) => !freed).length,
  );
  console.log(`given up: ${outcomes.filter(Boolean).length} of ${outcomes.length}`);
  // Those who got nothing may claim again.
  const unpaid = claimants.filter((_, n) => outcomes[n]);
  await Promise.all(unpaid.map((one) => claimPatiently(world, one)));
  await expectPaidOnce(
    world,
    claimants.map(({ wallet }) => wallet),
  );
});

test("a wallet turns ether away once its claim is signed: told so once, and never paid anew", async () => {
  const { testnet, proxy } = world;
  const who = newcomer();
  let refusing: Promise<unknown> | undefined;
  proxy.intercept(async (call, forward) => {
    if (isSending(call)) {
      refusing ??= testnet.client.setCode({ address: who.wallet, bytecode: "0x5f5ffd" });
      await refusing;
    }
    return forward();
  });
  const told = await waitFor({
    what: "the outcome",
    probe: async () => {
      const answer = await claim(world, who);
      return answer.status === 502 ? answer : undefined;
    },
    timeoutMs: 60_000,
    intervalMs: 300,
  });
  expect(failure(told)).toEqual([502, "onchain_revert"]);
  expect(await paidOnChain(world, who.wallet)).toEqual({ ether: 0n, usdc: ONCE.usdc });
  await testnet.client.setCode({ address: who.wallet, bytecode: "0x" });
  expect(failure(await claim(world, who))).toEqual([429, "wallet_rate_limited"]);
  await atRest(world);
  expect(await paidOnChain(world, who.wallet)).toEqual({ ether: 0n, usdc: ONCE.usdc });
});
