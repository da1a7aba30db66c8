/** The faucet, from the call to the chain and back: what is paid, to whom, once; and what a client is told of it. */
import { beforeAll, describe, expect, test } from "vitest";
import { type HttpAnswer, http } from "../support/http.ts";
import { startStack } from "../support/stack.ts";
import { failure } from "./support/api.ts";
import {
  CLAIM,
  type FaucetWorld,
  holdings,
  newClient,
  newWallet,
  paidOf,
  retryAfter,
  STATUS,
  startFaucet,
  statusOf,
  transfersTo,
} from "./support/faucet.ts";

let world: FaucetWorld;
beforeAll(async () => {
  world = await startFaucet();
});

const GRANT = { wei: 50_000_000_000_000_000n, usdc: 10_000_000_000n };

const limitOf = ({ headers }: HttpAnswer) => [
  headers.get("x-ratelimit-limit"),
  headers.get("x-ratelimit-remaining"),
];

test("a claim is answered when both transfers are mined, with their hashes and the moment of the next one", async () => {
  const wallet = newWallet();
  const before = Date.now();
  const answer = await world.claim({ wallet: wallet.toLowerCase() });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(limitOf(answer)).toEqual(["1", "0"]);
  const body = paidOf(answer);
  expect(body).toMatchObject({
    ethAmount: "0.05",
    usdcAmount: "10000",
    mockUsdcAddress: world.testnet.deployment.contracts.usdc,
  });
  expect(await holdings(world, wallet)).toEqual(GRANT);
  for (const hash of [body.ethTxHash, body.usdcTxHash]) {
    const receipt = await world.testnet.client.getTransactionReceipt({ hash: `0x${hash.slice(2)}` });
    expect(receipt.status).toBe("success");
  }
  const [slot] = await world.sql<{ ms: number }[]>`
    select extract(epoch from until)::float8 * 1000 as ms from service.faucet_slot where subject = ${wallet.toLowerCase()}`;
  expect(new Date(body.nextEligibleAt).getTime()).toBe(slot?.ms);
  const claimedAt = new Date(body.nextEligibleAt).getTime() - 24 * 3_600_000;
  expect(claimedAt).toBeGreaterThan(before - 1000);
  expect(claimedAt).toBeLessThanOrEqual(Date.now());
});

test("a hundred claims of one wallet at once, at two processes: one is paid, once, and 99 are told when they may", async () => {
  const { chain, testnet, stack } = world;
  const second = await startStack({
    chain,
    testnet,
    services: ["api"],
    databaseUrl: stack.databaseUrl,
    env: { api: { TRUST_PROXY: "loopback" } },
  });
  const [wallet, from] = [newWallet(), newClient()];
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      http(`${[stack, second][n % 2]?.apiUrl}${CLAIM}`, {
        body: { wallet },
        headers: { "x-forwarded-for": from },
      }),
    ),
  );
  const granted = answers.filter(({ status }) => status === 200);
  expect(granted).toHaveLength(1);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.map(failure)).toEqual(Array(99).fill([429, "wallet_rate_limited"]));
  const [paid] = granted.map(paidOf);
  for (const answer of refused) {
    expect(answer.text).toContain(paid?.nextEligibleAt);
    expect(retryAfter(answer)).toBeGreaterThan(86_340);
    expect(retryAfter(answer)).toBeLessThanOrEqual(86_400);
    expect(limitOf(answer)).toEqual(["1", "0"]);
    expect(answer.headers.get("x-ratelimit-reset")).toBe(String(retryAfter(answer)));
  }
  expect(await holdings(world, wallet)).toEqual(GRANT);
  expect(await transfersTo(world, wallet)).toBe(2);
  await second.stop();
});

describe("limits over the api", () => {
  test("a wallet, and a client address, claim once in 24 hours", async () => {
    const [wallet, from] = [newWallet(), newClient()];
    expect((await world.claim({ wallet, from })).status).toBe(200);
    expect(failure(await world.claim({ wallet }))).toEqual([429, "wallet_rate_limited"]);
    expect(failure(await world.claim({ from }))).toEqual([429, "ip_rate_limited"]);
    expect(await holdings(world, wallet)).toEqual(GRANT);
  });

  test("the addresses of one IPv6 /64 are one client, and those of the next one another", async () => {
    expect((await world.claim({ from: "2001:db8:1:2:3::4" })).status).toBe(200);
    for (const from of ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", "[2001:db8:1:2::9]:4711"]) {
      expect(failure(await world.claim({ from }))).toEqual([429, "ip_rate_limited"]);
    }
    expect((await world.claim({ from: "2001:db8:1:3::1" })).status).toBe(200);
    expect((await world.claim({ from: "203.0.113.7" })).status).toBe(200);
    expect(failure(await world.claim({ from: "::ffff:203.0.113.7" }))).toEqual([429, "ip_rate_limited"]);
  });

  test("what a client writes ahead of its proxy's word is not believed", async () => {
    const from = newClient();
    expect((await world.claim({ from: `203.0.113.77, ${from}` })).status).toBe(200);
    expect(failure(await world.claim({ from: `203.0.113.78, ${from}` }))).toEqual([429, "ip_rate_limited"]);
    for (const header of ["x-real-ip", "forwarded", "cf-connecting-ip", "true-client-ip", "x-client-ip"]) {
      const request = { headers: { [header]: header === "forwarded" ? "for=203.0.113.79" : "203.0.113.79" } };
      expect(failure(await world.claim({ from, request }))).toEqual([429, "ip_rate_limited"]);
    }
  });

  test("the day has fifty, and the next UTC day has its own", async () => {
    await world.sql`
      insert into service.faucet_day (chain_id, day, claims) values (84532, (now() at time zone 'utc')::date, 50)
      on conflict (chain_id, day) do update set claims = 50`;
    const answer = await world.claim();
    expect(failure(answer)).toEqual([429, "daily_cap_reached"]);
    expect(limitOf(answer)).toEqual(["50", "0"]);
    const midnight = new Date().setUTCHours(24, 0, 0, 0);
    expect(Math.abs(retryAfter(answer) - (midnight - Date.now()) / 1000)).toBeLessThan(10);
    expect(statusOf(await world.request(STATUS))).toMatchObject({
      status: "unready",
      enabled: true,
      claimsToday: 50,
    });
    await world.sql`update service.faucet_day set day = day - 1`;
    expect((await world.claim()).status).toBe(200);
  });

  test("a wallet may claim again at the moment that it was told, and is paid again", async () => {
    const [wallet, from] = [newWallet(), newClient()];
    paidOf(await world.claim({ wallet, from }));
    await world.sql`
      update service.faucet_slot set until = now() + interval '2 seconds'
      where subject in (${wallet.toLowerCase()}, ${from})`;
    const refused = await world.claim({ wallet, from });
    expect(failure(refused)).toEqual([429, "wallet_rate_limited"]);
    expect(retryAfter(refused)).toBeLessThanOrEqual(2);
    await new Promise((resolve) => setTimeout(resolve, retryAfter(refused) * 1000));
    expect((await world.claim({ wallet, from })).status).toBe(200);
    expect(await holdings(world, wallet)).toEqual({ wei: 2n * GRANT.wei, usdc: 2n * GRANT.usdc });
  });
});

describe("the status", () => {
  test("tells the terms, the ether, and how many claims there were", async () => {
    const before = await world.request(STATUS);
    expect(before.json).toMatchObject({
      enabled: true,
      relayerUsdcBalance: null,
      mockUsdcAddress: world.testnet.deployment.contracts.usdc,
      usdcPerClaim: "10000",
      ethPerClaim: "0.05",
      cooldownHours: 24,
      dailyCap: 50,
      capResetsAt: new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString(),
    });
    await world.claim();
    const [was, is] = [statusOf(before), statusOf(await world.request(STATUS))];
    expect(is.claimsLast24h).toBe(was.claimsLast24h + 1);
    expect(Number(was.relayerEthBalance) - Number(is.relayerEthBalance)).toBeGreaterThan(0.0499);
  });
});

test("a contract that takes no ether is refused with the reason, and takes up nothing", async () => {
  const { client, owner } = world.testnet;
  // Its code is one revert.
  const hash = await client.sendTransaction({
    account: owner,
    chain: client.chain,
    data: "0x6460006000fd6000526005601bf3",
  });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error("no contract");
  const from = newClient();
  const answer = await world.claim({ wallet: contractAddress, from });
  expect(failure(answer)).toEqual([502, "onchain_revert"]);
  const wallet = newWallet();
  expect((await world.claim({ wallet, from })).status).toBe(200);
  expect(await holdings(world, wallet)).toEqual(GRANT);
});
