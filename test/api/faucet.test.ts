/** The faucet from the api call to the mined transfers: invalid claims, the grant, the limits, the status. */
import { beforeAll, describe, expect, test } from "vitest";
import { type HttpAnswer, http } from "../support/http.ts";
import { startStack } from "../support/stack.ts";
import { expectLogged, newTrace } from "../support/trace.ts";
import { failure } from "./support/api.ts";
import {
  balancesOf,
  CLAIM,
  countTransfersTo,
  GRANT,
  grantOf,
  newClientAddress,
  newWallet,
  retryAfter,
  STATUS,
  startFaucet,
  statusOf,
  type TestFaucet,
} from "./support/faucet.ts";
import { faucetInput } from "./support/faucet-input.ts";

let faucet: TestFaucet;
beforeAll(async () => {
  faucet = await startFaucet();
});

describe("an invalid claim", () => faucetInput(() => faucet));

const limitOf = ({ headers }: HttpAnswer) => [
  headers.get("x-ratelimit-limit"),
  headers.get("x-ratelimit-remaining"),
];

test("a claim returns once both transfers are mined, with their hashes and the time of the next claim", async () => {
  const wallet = newWallet();
  const before = Date.now();
  const answer = await faucet.claim({ wallet: wallet.toLowerCase() });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(limitOf(answer)).toEqual(["1", "0"]);
  const body = grantOf(answer);
  expect(body).toMatchObject({
    ethAmount: "0.05",
    usdcAmount: "10000",
    mockUsdcAddress: faucet.testnet.deployment.contracts.usdc,
  });
  expect(await balancesOf(faucet, wallet)).toEqual(GRANT);
  for (const hash of [body.ethTxHash, body.usdcTxHash]) {
    const receipt = await faucet.testnet.client.getTransactionReceipt({ hash: `0x${hash.slice(2)}` });
    expect(receipt.status).toBe("success");
  }
  const [slot] = await faucet.sql<{ ms: number }[]>`
    select extract(epoch from until)::float8 * 1000 as ms from service.faucet_slot where subject = ${wallet.toLowerCase()}`;
  expect(new Date(body.nextEligibleAt).getTime()).toBe(slot?.ms);
  const claimedAt = new Date(body.nextEligibleAt).getTime() - 24 * 3_600_000;
  expect(claimedAt).toBeGreaterThan(before - 1000);
  expect(claimedAt).toBeLessThanOrEqual(Date.now());
});

test("a claim's traceparent is in the logs of api and writer", async () => {
  const [wallet, trace] = [newWallet(), newTrace()];
  grantOf(await faucet.claim({ wallet, request: { headers: { traceparent: trace } } }));
  const [claim] = await faucet.sql<{ id: string }[]>`
    select id from service.faucet_claim where wallet = ${wallet.toLowerCase()}`;
  await expectLogged(faucet.stack, trace, claim?.id);
});

test("100 simultaneous claims of one wallet at two processes: one is paid, 99 get 429 with the time of the next claim", async () => {
  const { chain, testnet, stack } = faucet;
  const second = await startStack({
    chain,
    testnet,
    services: ["api"],
    databaseUrl: stack.databaseUrl,
    env: { api: { TRUST_PROXY: "loopback" } },
  });
  const [wallet, from] = [newWallet(), newClientAddress()];
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
  const [paid] = granted.map(grantOf);
  for (const answer of refused) {
    expect(answer.json).toMatchObject({ nextEligibleAt: paid?.nextEligibleAt });
    expect(answer.text.split(paid?.nextEligibleAt ?? "")).toHaveLength(3); // in the message too
    expect(retryAfter(answer)).toBeGreaterThan(86_340);
    expect(retryAfter(answer)).toBeLessThanOrEqual(86_400);
    expect(limitOf(answer)).toEqual(["1", "0"]);
    expect(answer.headers.get("x-ratelimit-reset")).toBe(String(retryAfter(answer)));
  }
  expect(await balancesOf(faucet, wallet)).toEqual(GRANT);
  expect(await countTransfersTo(faucet, wallet)).toBe(2);
  await second.stop();
});

describe("limits", () => {
  test("a wallet, and a client address, can claim once in 24 hours", async () => {
    const [wallet, from] = [newWallet(), newClientAddress()];
    expect((await faucet.claim({ wallet, from })).status).toBe(200);
    expect(failure(await faucet.claim({ wallet }))).toEqual([429, "wallet_rate_limited"]);
    expect(failure(await faucet.claim({ from }))).toEqual([429, "ip_rate_limited"]);
    expect(await balancesOf(faucet, wallet)).toEqual(GRANT);
  });

  test("all addresses of an IPv6 /64 are one client; the next /64 is another", async () => {
    expect((await faucet.claim({ from: "2001:db8:1:2:3::4" })).status).toBe(200);
    for (const from of ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", "[2001:db8:1:2::9]:4711"]) {
      expect(failure(await faucet.claim({ from }))).toEqual([429, "ip_rate_limited"]);
    }
    expect((await faucet.claim({ from: "2001:db8:1:3::1" })).status).toBe(200);
    expect((await faucet.claim({ from: "203.0.113.7" })).status).toBe(200);
    expect(failure(await faucet.claim({ from: "::ffff:203.0.113.7" }))).toEqual([429, "ip_rate_limited"]);
  });

  test("addresses that the client itself puts into headers are ignored", async () => {
    const from = newClientAddress();
    expect((await faucet.claim({ from: `203.0.113.77, ${from}` })).status).toBe(200);
    expect(failure(await faucet.claim({ from: `203.0.113.78, ${from}` }))).toEqual([429, "ip_rate_limited"]);
    for (const header of ["x-real-ip", "forwarded", "cf-connecting-ip", "true-client-ip", "x-client-ip"]) {
      const request = { headers: { [header]: header === "forwarded" ? "for=203.0.113.79" : "203.0.113.79" } };
      expect(failure(await faucet.claim({ from, request }))).toEqual([429, "ip_rate_limited"]);
    }
  });

  test("50 claims per UTC day; the next day starts at zero", async () => {
    await faucet.sql`
      insert into service.faucet_day (chain_id, day, claims) values (84532, (now() at time zone 'utc')::date, 50)
      on conflict (chain_id, day) do update set claims = 50`;
    const answer = await faucet.claim();
    expect(failure(answer)).toEqual([429, "daily_cap_reached"]);
    expect(limitOf(answer)).toEqual(["50", "0"]);
    const midnight = new Date().setUTCHours(24, 0, 0, 0);
    expect(answer.json).toMatchObject({ nextEligibleAt: new Date(midnight).toISOString() });
    expect(Math.abs(retryAfter(answer) - (midnight - Date.now()) / 1000)).toBeLessThan(10);
    expect(statusOf(await faucet.request(STATUS))).toMatchObject({
      status: "unready",
      enabled: true,
      claimsToday: 50,
    });
    // Yesterday's row, where it was yesterday when these tests began.
    await faucet.sql`delete from service.faucet_day where day < (now() at time zone 'utc')::date`;
    await faucet.sql`update service.faucet_day set day = day - 1`;
    expect((await faucet.claim()).status).toBe(200);
  });

  test("a wallet can claim again after Retry-After, and is paid again", async () => {
    const [wallet, from] = [newWallet(), newClientAddress()];
    grantOf(await faucet.claim({ wallet, from }));
    await faucet.sql`
      update service.faucet_slot set until = now() + interval '8 seconds'
      where subject in (${wallet.toLowerCase()}, ${from})`;
    const refused = await faucet.claim({ wallet, from });
    expect(failure(refused)).toEqual([429, "wallet_rate_limited"]);
    expect(retryAfter(refused)).toBeLessThanOrEqual(8);
    await new Promise((resolve) => setTimeout(resolve, retryAfter(refused) * 1000));
    expect((await faucet.claim({ wallet, from })).status).toBe(200);
    expect(await balancesOf(faucet, wallet)).toEqual({ wei: 2n * GRANT.wei, usdc: 2n * GRANT.usdc });
  });
});

describe("GET /api/v1/faucet/status", () => {
  test("returns the terms, the ether balance and the number of claims", async () => {
    const before = await faucet.request(STATUS);
    const was = statusOf(before);
    expect(before.json).toMatchObject({
      enabled: true,
      relayerUsdcBalance: null,
      mockUsdcAddress: faucet.testnet.deployment.contracts.usdc,
      usdcPerClaim: "10000",
      ethPerClaim: "0.05",
      cooldownHours: 24,
      dailyCap: 50,
      capResetsAt: new Date(new Date().setUTCHours(24, 0, 0, 0)).toISOString(),
    });
    await faucet.claim();
    const readStatus = async () => statusOf(await faucet.request(STATUS));
    await expect.poll(readStatus).toMatchObject({ claimsLast24h: was.claimsLast24h + 1 });
    const { relayerEthBalance } = await readStatus();
    expect(Number(was.relayerEthBalance) - Number(relayerEthBalance)).toBeGreaterThan(0.0499);
  });
});

test("a contract that rejects ether gets 502, and the client can still claim for another wallet", async () => {
  const { client, owner } = faucet.testnet;
  // The contract's code only reverts.
  const hash = await client.sendTransaction({
    account: owner,
    chain: client.chain,
    data: "0x6460006000fd6000526005601bf3",
  });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash });
  if (!contractAddress) throw new Error("the contract was not deployed");
  const from = newClientAddress();
  const answer = await faucet.claim({ wallet: contractAddress, from });
  expect(failure(answer)).toEqual([502, "onchain_revert"]);
  const wallet = newWallet();
  expect((await faucet.claim({ wallet, from })).status).toBe(200);
  expect(await balancesOf(faucet, wallet)).toEqual(GRANT);
});
