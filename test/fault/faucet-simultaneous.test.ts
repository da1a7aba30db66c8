/**
 * Two api processes and two writers with the same key, and a hundred claims at once. What this proves, checked on the
 * chain: a wallet is paid once, an address is paid once, and neither the faucet's funds nor the daily cap is exceeded.
 */
import { parseEther } from "viem";
import { beforeAll, expect, test } from "vitest";
import { serviceWallets } from "../../scripts/local/service-wallets.ts";
import { failure } from "../api/support/api.ts";
import type { HttpAnswer } from "../support/http.ts";
import { checkedRequests } from "../support/openapi.ts";
import { startStack } from "../support/stack.ts";
import {
  claim,
  expectGrantMined,
  expectPaidOnce,
  NOTHING,
  paidOnChain,
  parseGrant,
} from "./support/faucet-calls.ts";
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

type TwoApis = TestnetSetup & {
  /** Claims from the two api processes in turn. */
  readonly claimInTurn: (client: NewClient, n: number) => Promise<HttpAnswer>;
};

async function startTwoApis(): Promise<TwoApis> {
  const setup = await startTestnetSetup({ parts: "faucet", env });
  const second = await startStack({
    ...stackOptions(setup.main, setup.testnet, { parts: "faucet", env }),
    databaseUrl: setup.stack.databaseUrl,
  });
  const requests = [setup.request, await checkedRequests(second.apiUrl)] as const;
  return { ...setup, claimInTurn: (client, n) => claim({ request: requests[n % 2 === 0 ? 0 : 1] }, client) };
}

let setup: TwoApis;

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
  setup = await startTwoApis();
});

test("a hundred claims for one wallet from one address: one is paid", async () => {
  const claimant = newClient();
  const answers = await claimTogether(Array.from({ length: HUNDRED }, () => claimant));
  expect(countOutcomes(answers)).toEqual({ "200": 1, "429 wallet_rate_limited": HUNDRED - 1 });
  const paid = answers.find(({ status }) => status === 200);
  if (paid) await expectGrantMined(setup, claimant, parseGrant(paid));
  await expectPaidOnce(setup, [claimant.wallet]);
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
  await expectPaidOnce(
    setup,
    wallets.map(({ wallet }) => wallet),
  );
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
