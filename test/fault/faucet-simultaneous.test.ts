/**
 * Two api processes and two writers with the same key: a hundred claims at once, and the writer that owns the wallet is suspended
 * (SIGSTOP) or shuts down. What this proves, checked on the chain: a wallet is paid once, an address is paid once, and neither the
 * faucet's funds nor the daily cap is exceeded; the other writer takes over, and each claim is paid once, also after the suspended
 * writer resumes.
 */
import { parseEther } from "viem";
import { beforeAll, expect, test } from "vitest";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import type { HttpAnswer } from "../support/http.ts";
import { checkedRequests } from "../support/openapi.ts";
import { type RpcCall, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { claim, claimUntilPaid, expectPaidOnce, NOTHING, paidOnChain } from "./support/faucet-calls.ts";
import { sendingAgainAtOnce } from "./support/send-again.ts";
import { isSending } from "./support/testnet-faults.ts";
import {
  type NewClient,
  newClient,
  newClients,
  randomWallet,
  stackOptions,
  startTestnetSetup,
  type TestnetSetup,
} from "./support/testnet-setup.ts";
import { mineAndWaitUntilSettled, waitForFundsCacheToExpire } from "./support/waits.ts";

const HUNDRED = 100;
const env = { api: { PURCHASE_WAIT_MS: "60000" } };

/** A writer's stack, and the proxy between it and the testnet. */
type Writer = { readonly stack: Stack; readonly proxy: RpcProxy };

type TwoOfEach = TestnetSetup & {
  /** Claims from the two api processes in turn. */
  readonly claimInTurn: (client: NewClient, n: number) => Promise<HttpAnswer>;
  readonly writers: readonly Writer[];
};

async function startTwoOfEach(): Promise<TwoOfEach> {
  const setup = await startTestnetSetup({ parts: "faucet", env });
  const proxy = await startRpcProxy(setup.testnet.url);
  const { env: common, ...options } = stackOptions(setup.main, setup.testnet, { parts: "faucet", env });
  const second = await startStack({
    ...options,
    databaseUrl: setup.stack.databaseUrl,
    testnetRpcUrl: proxy.url,
    env: { ...common, api: { ...common?.api, TESTNET_RPC_URL: setup.testnet.url } },
  });
  const requests = [setup.request, await checkedRequests(second.apiUrl)] as const;
  return {
    ...setup,
    claimInTurn: (client, n) => claim({ request: requests[n % 2 === 0 ? 0 : 1] }, client),
    writers: [setup, { stack: second, proxy }],
  };
}

let setup: TwoOfEach;

const expectAllPaidOnce = (clients: readonly Pick<NewClient, "wallet">[]) =>
  expectPaidOnce(
    setup,
    clients.map(({ wallet }) => wallet),
  );

const claimTogether = (all: readonly NewClient[]) =>
  Promise.all(all.map((one, n) => setup.claimInTurn(one, n)));

/** Number of answers per outcome, as `{ "200": 1, "429 wallet_rate_limited": 99 }`. */
function countOutcomes(answers: readonly HttpAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const outcome = answer.status === 200 ? "200" : failure(answer).join(" ");
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    if (answer.status !== 200) expect(Number(answer.headers.get("retry-after")), outcome).toBeGreaterThan(0);
  }
  return counts;
}

beforeAll(async () => {
  setup = await startTwoOfEach();
});

test("a hundred claims for one wallet from as many addresses: one is paid, and the refused addresses may still claim", async () => {
  const { wallet } = newClient();
  const all = newClients(HUNDRED).map(({ ip }) => ({ wallet, ip }));
  const answers = await claimTogether(all);
  expect(countOutcomes(answers)).toEqual({ "200": 1, "429 wallet_rate_limited": HUNDRED - 1 });
  await expectPaidOnce(setup, [wallet]);
  // A refused claim does not count towards its address's limit.
  const refused = all.find((_, n) => answers[n]?.status === 429);
  if (!refused) throw new Error("nobody was refused");
  const other = { wallet: randomWallet(), ip: refused.ip };
  expect((await setup.claimInTurn(other, 0)).status).toBe(200);
  await expectPaidOnce(setup, [other.wallet]);
});

test("a hundred claims for as many wallets from one IPv6 network: one is paid", async () => {
  const all = Array.from({ length: HUNDRED }, (_, n) => ({
    wallet: randomWallet(),
    ip: `2001:db8:7:7:${(n * 99).toString(16)}::${n.toString(16)}`,
  }));
  const answers = await claimTogether(all);
  expect(countOutcomes(answers)).toEqual({ "200": 1, "429 ip_rate_limited": HUNDRED - 1 });
  const wallets = all.map(({ wallet }) => wallet);
  const isPaid = (n: number) => answers[n]?.status === 200;
  await expectPaidOnce(
    setup,
    wallets.filter((_, n) => isPaid(n)),
    wallets.filter((_, n) => !isPaid(n)),
  );
});

test("claims for all pairs of ten wallets and ten addresses: ten are paid, and the others are refused", async () => {
  const [wallets, addresses] = [newClients(10), newClients(10)];
  const all = wallets.flatMap(({ wallet }) => addresses.map(({ ip }) => ({ wallet, ip })));
  const { "200": paid, ...refused } = countOutcomes(await claimTogether(all));
  // A claim is refused only when its wallet or its address has a grant, so every wallet gets one.
  expect(paid).toBe(10);
  // Which of the two refuses a claim depends on which claims came first.
  for (const outcome of Object.keys(refused))
    expect(["429 ip_rate_limited", "429 wallet_rate_limited"]).toContain(outcome);
  await expectAllPaidOnce(wallets);
});

/** Waits until a writer other than `not` owns the faucet's wallet. Resolves to that writer. */
const owner = (not?: Writer): Promise<Writer> =>
  waitFor({
    what: "a writer to own the faucet's wallet",
    probe: async () => {
      const [row] = await setup.connection.sql<{ pid: string }[]>`
        select split_part(lease_owner, '-', -2) as pid from service.relayer_wallet where role = 'faucet'`;
      const found = setup.writers.find(({ stack }) => stack.running("writer")?.pid === Number(row?.pid));
      return found === not ? undefined : found;
    },
  });

const moments: readonly (readonly [name: string, matches: (call: RpcCall) => boolean])[] = [
  ["during the simulations", ({ method }) => method === "eth_estimateGas"],
  ["during the broadcasts, which arrive after the other writer took over", isSending],
];

test.each(moments)("the owner is suspended %s: each claim is paid once", async (_, matches) => {
  const suspended = await owner();
  const pid = suspended.stack.running("writer")?.pid ?? 0;
  expect(pid).toBeGreaterThan(0);
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let stopped = false;
  suspended.proxy.intercept(async (call, forward) => {
    if (!matches(call)) return forward();
    if (!stopped) process.kill(pid, "SIGSTOP");
    stopped = true;
    await held;
    return forward();
  });
  const claimants = newClients(4);
  const results = Promise.all(claimants.map((one) => claimUntilPaid(setup, one)));
  results.catch(() => {}); // awaited below
  await waitFor({ what: "the owner to be suspended", probe: () => stopped || undefined, intervalMs: 10 });
  // As if its lease had expired.
  await setup.connection.sql`update service.relayer_wallet set lease_until = now() where role = 'faucet'`;
  await owner(suspended);
  release();
  process.kill(pid, "SIGCONT");
  await results;
  suspended.proxy.intercept();
  await expectAllPaidOnce(claimants);
});

test("the owner shuts down during claims: the other writer pays the rest at once", async () => {
  const leaving = await owner();
  const child = leaving.stack.running("writer");
  leaving.proxy.intercept(async (call, forward) => (isSending(call) ? "lost" : forward()));
  const claimants = newClients(3);
  const results = Promise.all(claimants.map((one) => claimUntilPaid(setup, one)));
  results.catch(() => {}); // awaited below
  await waitFor({
    what: "a transfer to be signed",
    probe: async () =>
      (
        await setup.connection.sql`select 1 from service.service_transaction_progress where state = 'signed'`
      ).at(0) && true,
  });
  await leaving.stack.stopService("writer");
  expect(child?.exit()).toEqual({ code: 0, signal: null });
  await sendingAgainAtOnce(setup.connection.sql, results);
  await expectAllPaidOnce(claimants);
  leaving.proxy.intercept();
  await leaving.stack.start("writer");
});

test("sixty claims reach the daily cap: the rest are refused until midnight UTC", async () => {
  const { sql } = setup.connection;
  const { chainId } = setup.testnet.deployment;
  const [day] = await sql<{ claims: number }[]>`
      select claims from service.faucet_day where chain_id = ${chainId} and day = (now() at time zone 'utc')::date`;
  const left = 50 - (day?.claims ?? 0);
  expect(left).toBeGreaterThan(20);
  const all = newClients(60);
  const answers = await claimTogether(all);
  expect(countOutcomes(answers)).toEqual({ "200": left, "429 daily_cap_reached": 60 - left });
  const untilMidnight = 86_400 - ((Date.now() / 1000) % 86_400);
  for (const answer of answers.filter(({ status }) => status === 429)) {
    expect(Math.abs(Number(answer.headers.get("retry-after")) - untilMidnight)).toBeLessThan(300);
  }
  const isPaid = (n: number) => answers[n]?.status === 200;
  const wallets = all.map(({ wallet }) => wallet);
  await expectPaidOnce(
    setup,
    wallets.filter((_, n) => isPaid(n)),
    wallets.filter((_, n) => !isPaid(n)),
  );
});

test("the faucet has ether for seven grants: at most seven claims are accepted, and all of those are paid", async () => {
  const { testnet, connection } = setup;
  // Resets the count of the daily cap.
  await connection.sql`delete from service.faucet_day`;
  await testnet.client.setBalance({ address: serviceWallets.faucet.address, value: parseEther("0.365") });
  await Promise.all([
    mineAndWaitUntilSettled(testnet, connection.sql),
    waitForFundsCacheToExpire(connection.sql),
  ]);
  const all = newClients(40);
  const answers = await claimTogether(all);
  const counts = countOutcomes(answers);
  // A refusal is certain only at a settled block: on a slow machine the writer may be a block behind, for all of them.
  for (const outcome of Object.keys(counts))
    expect(["200", "503 out_of_eth", "503 relayer_unavailable"]).toContain(outcome);
  // Fewer than seven when gas needs the rest.
  expect(counts["200"]).toBeLessThanOrEqual(7);
  expect(counts["200"]).toBeGreaterThanOrEqual(5);
  const isPaid = (n: number) => answers[n]?.status === 200;
  for (const [n, { wallet }] of all.entries()) {
    if (!isPaid(n)) expect(await paidOnChain(setup, wallet)).toEqual(NOTHING);
  }
  await expectPaidOnce(
    setup,
    all.filter((_, n) => isPaid(n)).map(({ wallet }) => wallet),
  );
});
