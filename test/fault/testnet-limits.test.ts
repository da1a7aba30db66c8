/**
 * Two api processes and two writers with the same keys, clients that exceed the sandbox's rate limit, and claims for contracts, whose
 * code our node then runs. What this proves, checked on the chain: an address buys ten policies, also with concurrent calls to both
 * processes, and no header buys an eleventh; a contract that burns all gas is refused at once and does not count towards the daily
 * cap, and twenty of them do not delay other claims.
 */
import { beforeAll, expect, test } from "vitest";
import { failure } from "../api/support/api.ts";
import type { HttpAnswer } from "../support/http.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { startStack } from "../support/stack.ts";
import { claim, claimUntilPaid, expectPaidOnce } from "./support/faucet-calls.ts";
import { forgedForwardedFor, forgedHeaders, sameNetworkForwardedFor } from "./support/forged-headers.ts";
import {
  expectBoughtOnce,
  nextBlock,
  parsePurchase,
  sandboxWallet,
  waitUntilSandboxReady,
} from "./support/sandbox-calls.ts";
import {
  mineUntilFinal,
  newClient,
  newClients,
  stackOptions,
  startTestnetSetup,
  type TestnetSetup,
} from "./support/testnet-setup.ts";

const PATH = "/sandbox/try";
const LIMIT = 10;
const options = {
  parts: "both",
  // While a busy Redis does not answer, Postgres counts instead: an address could then buy more.
  redis: false,
  env: { api: { SANDBOX_RATE_LIMIT: String(LIMIT), PURCHASE_WAIT_MS: "60000" } },
} as const;

let setup: TestnetSetup;
let requests: readonly [CheckedRequest, CheckedRequest];

beforeAll(async () => {
  setup = await startTestnetSetup(options);
  const second = await startStack({
    ...stackOptions(setup.main, setup.testnet, options),
    databaseUrl: setup.stack.databaseUrl,
  });
  requests = [setup.request, await checkedRequests(second.apiUrl)];
  await waitUntilSandboxReady(setup);
});

const ask = (n: number, headers: Readonly<Record<string, string>>): Promise<HttpAnswer> =>
  requests[n % 2 === 0 ? 0 : 1](PATH, { method: "POST", headers });

function expectLimited(answer: HttpAnswer, what = "") {
  expect(failure(answer), what).toEqual([403, "sandbox_cap_exceeded"]);
  const wait = Number(answer.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(3400);
  expect(wait).toBeLessThanOrEqual(3600);
  expect(Number(answer.headers.get("x-ratelimit-limit"))).toBe(LIMIT);
  expect(Number(answer.headers.get("x-ratelimit-remaining"))).toBe(0);
}

test("one address makes forty calls at once to both processes: ten policies", async () => {
  const fromBlock = await nextBlock(setup);
  const { ip } = newClient();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) => ask(n, { "x-forwarded-for": ip, "idempotency-key": `forty-${n}` })),
  );
  const bought = answers.filter(({ status }) => status === 200);
  expect(bought).toHaveLength(LIMIT);
  for (const answer of answers) if (answer.status !== 200) expectLimited(answer);
  await expectBoughtOnce(setup, bought.map(parsePurchase), fromBlock);

  // A repeated key returns its policy and does not count as a call; a refused key stays refused.
  for (const [n, answer] of answers.entries()) {
    const again = await ask(n + 1, { "x-forwarded-for": ip, "idempotency-key": `forty-${n}` });
    if (answer.status === 200) expect(parsePurchase(again).txHash).toBe(parsePurchase(answer).txHash);
    else expectLimited(again);
  }
  await expectBoughtOnce(setup, bought.map(parsePurchase), fromBlock);
});

test("ten calls at once with one key: one policy", async () => {
  const fromBlock = await nextBlock(setup);
  const { ip } = newClient();
  const headers = { "x-forwarded-for": ip, "idempotency-key": "ten-in-one" };
  const answers = await Promise.all(Array.from({ length: LIMIT }, (_, n) => ask(n, headers)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(new Set(answers.map((answer) => parsePurchase(answer).txHash)).size).toBe(1);
  await expectBoughtOnce(setup, answers.slice(0, 1).map(parsePurchase), fromBlock);
  // A key belongs to its client: another client's call with the same key buys another policy.
  const other = await ask(0, { ...headers, "x-forwarded-for": newClient().ip });
  expect(parsePurchase(other).txHash).not.toBe(answers[0] && parsePurchase(answers[0]).txHash);
});

test("forged headers and other addresses of the same network share one limit", async () => {
  const [ipv4, prefix] = [newClient().ip, "2001:db8:55:1"];
  for (const ip of [ipv4, `${prefix}::1`]) {
    const answers = await Promise.all(
      Array.from({ length: LIMIT }, (_, n) => ask(n, { "x-forwarded-for": ip })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
  await mineUntilFinal(setup);
  const before = (await policiesOnChain(setup.testnet, sandboxWallet)).length;
  let n = 0;
  for (const forwardedFor of [...forgedForwardedFor(ipv4), ...sameNetworkForwardedFor(prefix)]) {
    for (const forged of [{}, ...forgedHeaders]) {
      n += 1;
      expectLimited(
        await ask(n, { ...forged, "x-forwarded-for": forwardedFor }),
        `${forwardedFor} ${JSON.stringify(forged)}`,
      );
    }
  }
  await mineUntilFinal(setup);
  expect(await policiesOnChain(setup.testnet, sandboxWallet)).toHaveLength(before);
  expect((await ask(0, { "x-forwarded-for": "2001:db8:55:2::1" })).status).toBe(200);
});

test("without a trusted proxy the limit counts by the socket's address only", async () => {
  const unproxied = await startStack({
    ...stackOptions(setup.main, setup.testnet, {
      ...options,
      env: { api: { ...options.env.api, TRUST_PROXY: "" } },
    }),
    services: ["api"],
    databaseUrl: setup.stack.databaseUrl,
  });
  const request = await checkedRequests(unproxied.apiUrl);
  const answers = await Promise.all(
    Array.from({ length: LIMIT + 5 }, (_, n) =>
      request(PATH, {
        method: "POST",
        headers: { "x-forwarded-for": `198.51.100.${n}`, ...forgedHeaders[n % 4] },
      }),
    ),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(LIMIT);
  for (const answer of answers) if (answer.status !== 200) expectLimited(answer);
});

/** JUMPDEST PUSH0 JUMP: loops until the gas is used up. */
const BURNER = "0x5b5f56";

test("wallets that burn all gas are refused at once, and do not delay other claims", async () => {
  const { testnet, connection } = setup;
  await claimUntilPaid(setup, newClient());
  const burners = newClients(20);
  for (const { wallet } of burners) await testnet.client.setCode({ address: wallet, bytecode: BURNER });

  let over = false;
  const burning = burners.map(async (one) => {
    const failures: string[] = [];
    while (!over) failures.push(String(failure(await claim(setup, one))));
    return failures;
  });
  const claimants = newClients(10);
  const paid = await Promise.all(claimants.map((one) => claimUntilPaid(setup, one)));
  over = true;
  for (const failures of await Promise.all(burning)) {
    // How many claims an address makes depends on the machine; after five that revert it has to wait.
    const expected = failures.map((_, index) => (index < 5 ? "502,onchain_revert" : "429,ip_rate_limited"));
    expect(failures).toEqual(expected);
  }
  expect(paid.map(({ seen }) => seen)).toEqual(paid.map(() => ["200"]));
  await expectPaidOnce(
    setup,
    claimants.map(({ wallet }) => wallet),
  );
  // The refused claims do not count towards the daily cap.
  const [day] = await connection.sql<
    { claims: number }[]
  >`select sum(claims)::int as claims from service.faucet_day`;
  expect(day?.claims).toBe(1 + claimants.length);
});
