/**
 * Two api processes and two writers with the same key, and a hundred claims at the same moment. What this proves, counted
 * on the chain: a wallet is paid once, an address is paid once, and no more is promised than there is, or than the day has.
 */
import { parseEther } from "viem";
import { beforeAll, expect, test } from "vitest";
import { serviceWallets } from "../../scripts/dev/wallets.ts";
import { failure } from "../api/support/api.ts";
import type { HttpAnswer } from "../support/http.ts";
import { checkedRequests } from "../support/openapi.ts";
import { startStack } from "../support/stack.ts";
import {
  claim,
  expectPaidOnce,
  expectTruth,
  grantedIn,
  NOTHING,
  paidOnChain,
} from "./support/faucet-truth.ts";
import { mineAndWaitUntilSettled, waitForFundsCacheToExpire } from "./support/rounds.ts";
import {
  type Newcomer,
  newcomer,
  newcomers,
  randomWallet,
  stackOptions,
  startTestnetWorld,
  type TestnetWorld,
} from "./support/testnet-world.ts";

const HUNDRED = 100;
const env = { api: { PURCHASE_WAIT_MS: "60000" } };

type Twin = TestnetWorld & {
  /** The call of one of the two processes or of the other, in turn. */
  readonly inTurn: (who: Newcomer, n: number) => Promise<HttpAnswer>;
};

async function startTwins(): Promise<Twin> {
  const world = await startTestnetWorld({ parts: "faucet", env });
  const second = await startStack({
    ...stackOptions(world.main, world.testnet, { parts: "faucet", env }),
    databaseUrl: world.stack.databaseUrl,
  });
  const requests = [world.request, await checkedRequests(second.apiUrl)] as const;
  return { ...world, inTurn: (who, n) => claim({ request: requests[n % 2 === 0 ? 0 : 1] }, who) };
}

let world: Twin;

const together = (all: readonly Newcomer[]) => Promise.all(all.map((one, n) => world.inTurn(one, n)));

/** How many were answered what, as `{ "200": 1, "429 wallet_rate_limited": 99 }`. */
function tally(answers: readonly HttpAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const what = answer.status === 200 ? "200" : failure(answer).join(" ");
    counts[what] = (counts[what] ?? 0) + 1;
    if (answer.status !== 200) expect(Number(answer.headers.get("retry-after")), what).toBeGreaterThan(0);
  }
  return counts;
}

beforeAll(async () => {
  world = await startTwins();
});

test("a hundred for one wallet, from one address: one is paid", async () => {
  const who = newcomer();
  const answers = await together(Array.from({ length: HUNDRED }, () => who));
  expect(tally(answers)).toEqual({ "200": 1, "429 wallet_rate_limited": HUNDRED - 1 });
  const paid = answers.find(({ status }) => status === 200);
  if (paid) await expectTruth(world, who, grantedIn(paid));
  await expectPaidOnce(world, [who.wallet]);
});

test("a hundred for one wallet, each from another address: one is paid, and the addresses keep their claim", async () => {
  const { wallet } = newcomer();
  const all = newcomers(HUNDRED).map(({ from }) => ({ wallet, from }));
  const answers = await together(all);
  expect(tally(answers)).toEqual({ "200": 1, "429 wallet_rate_limited": HUNDRED - 1 });
  await expectPaidOnce(world, [wallet]);
  // What was refused took nothing up.
  const refused = all.find((_, n) => answers[n]?.status === 429);
  if (!refused) throw new Error("nobody was refused");
  const other = { wallet: randomWallet(), from: refused.from };
  expect((await world.inTurn(other, 0)).status).toBe(200);
  await expectPaidOnce(world, [other.wallet]);
});

test("a hundred for as many wallets, from one IPv6 network: one is paid", async () => {
  const all = Array.from({ length: HUNDRED }, (_, n) => ({
    wallet: randomWallet(),
    from: `2001:db8:7:7:${(n * 99).toString(16)}::${n.toString(16)}`,
  }));
  const answers = await together(all);
  expect(tally(answers)).toEqual({ "200": 1, "429 ip_rate_limited": HUNDRED - 1 });
  const wallets = all.map(({ wallet }) => wallet);
  const isPaid = (n: number) => answers[n]?.status === 200;
  await expectPaidOnce(
    world,
    wallets.filter((_, n) => isPaid(n)),
    wallets.filter((_, n) => !isPaid(n)),
  );
});

test("ten wallets and ten addresses, in all pairs: ten are paid at most, and nobody waits for ever", async () => {
  const [wallets, addresses] = [newcomers(10), newcomers(10)];
  const all = wallets.flatMap(({ wallet }) => addresses.map(({ from }) => ({ wallet, from })));
  const answers = await together(all.toSorted(() => Math.random() - 0.5));
  const counts = tally(answers);
  expect(Object.keys(counts).toSorted()).toEqual(["200", "429 ip_rate_limited", "429 wallet_rate_limited"]);
  // Each refusal is for a wallet or an address that was taken: there is no pair left of which both are free.
  expect(counts["200"]).toBe(10);
  await expectPaidOnce(
    world,
    wallets.map(({ wallet }) => wallet),
  );
});

test("all that is left of the day, and no more: the others are told when it turns", async () => {
  const { sql } = world.connection;
  const { chainId } = world.testnet.deployment;
  const [day] = await sql<{ claims: number }[]>`
      select claims from service.faucet_day where chain_id = ${chainId} order by day desc limit 1`;
  const left = 50 - (day?.claims ?? 0);
  expect(left).toBeGreaterThan(20);
  const all = newcomers(60);
  const answers = await together(all);
  expect(tally(answers)).toEqual({ "200": left, "429 daily_cap_reached": 60 - left });
  const untilMidnight = 86_400 - ((Date.now() / 1000) % 86_400);
  for (const answer of answers.filter(({ status }) => status === 429)) {
    expect(Math.abs(Number(answer.headers.get("retry-after")) - untilMidnight)).toBeLessThan(300);
  }
  const isPaid = (n: number) => answers[n]?.status === 200;
  const wallets = all.map(({ wallet }) => wallet);
  await expectPaidOnce(
    world,
    wallets.filter((_, n) => isPaid(n)),
    wallets.filter((_, n) => !isPaid(n)),
  );
});

test("ether for seven: seven are promised it at most, and all that are promised it get it", async () => {
  const { testnet, connection } = world;
  // Another day, as far as the day's count is concerned.
  await connection.sql`delete from service.faucet_day`;
  await testnet.client.setBalance({ address: serviceWallets.faucet.address, value: parseEther("0.365") });
  await Promise.all([
    mineAndWaitUntilSettled(testnet, connection.sql),
    waitForFundsCacheToExpire(connection.sql),
  ]);
  const all = newcomers(40);
  const answers = await together(all);
  const counts = tally(answers);
  expect(Object.keys(counts).toSorted()).toEqual(["200", "503 out_of_eth"]);
  // Less what their gas may cost.
  expect(counts["200"]).toBeLessThanOrEqual(7);
  expect(counts["200"]).toBeGreaterThanOrEqual(5);
  const isPaid = (n: number) => answers[n]?.status === 200;
  for (const [n, { wallet }] of all.entries()) {
    if (!isPaid(n)) expect(await paidOnChain(world, wallet)).toEqual(NOTHING);
  }
  await expectPaidOnce(
    world,
    all.filter((_, n) => isPaid(n)).map(({ wallet }) => wallet),
  );
});
