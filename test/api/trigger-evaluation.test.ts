/**
 * What these prove: a buyer reads at each block how far a policy is, why it was paid or not, and by whom. After each step the list of
 * due policies has exactly those that the contracts would observe.
 */
import { hexToString } from "viem";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { anvilAccount } from "../../lib/chain/client.ts";
import { upkeepCalldata } from "../../lib/chain/trigger.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { deployWalletFactory, walletCalls } from "./support/contract-wallet.ts";
import { type Bought, type Cover, HOUR, owner, startCover } from "./support/cover.ts";
import { newFeedPhaseTest } from "./support/new-feed-phase.ts";
import { type EvaluationAnswer, evaluate, expectDue, findDue } from "./support/triggers.ts";

const [btc1h, btc24] = [termsOf("FLASHBTC1H-001"), termsOf("FLASHBTC24-001")];
const [eth1h, eth24] = [termsOf("FLASHETH1H-001"), termsOf("FLASHETH24-001")];
const stranger = anvilAccount(7);

let api: Cover;
beforeAll(async () => {
  api = await startCover();
});

const scaled = (price: bigint) => String(price * 10n ** 10n);
const observe = ({ product, policyId }: Bought) => act.observe(api.protocol, stranger, product, [policyId]);
/** Adds a round at a time. */
async function pushAt(policy: Bought, at: bigint, price: bigint) {
  await act.nextBlockAt(api.protocol, at);
  return api.push(policy, price);
}
/** Observes a policy at its trigger price, by a round at a time. @returns when it was observed */
async function observeAt(policy: Bought, at: bigint): Promise<bigint> {
  await pushAt(policy, at, policy.low);
  await observe(policy);
  return act.chainTime(api.protocol);
}
/** Count, drop and reason of each observation, the newest first. */
const listed = ({ observations }: EvaluationAnswer) =>
  observations.map(({ count, dropBps, reason }) => [count, dropBps, hexToString(reason, { size: 32 })]);
/** Observes a policy twice, and adds the third round. */
const observeTwice = ({ product, policyId }: Bought) =>
  act.observeTwice(api.protocol, stranger, product, policyId);

const recentList = z.object({ triggers: z.array(z.looseObject({ policyId: z.string() })) });
const claimList = z.object({ claims: z.array(z.looseObject({ policy_id: z.string() })) });

test("a policy waits for its dwell, a low price, a newer round and a minute, and is paid by its third observation", async () => {
  const policy = await api.buy(btc24);
  const { createdAt, expiresAt, low, price } = policy;
  expect(await evaluate(api, policy)).toMatchObject({
    ...{ status: "Active", observed: 0, observations: [], obstacles: [] },
    ...{ strikePrice: scaled(price), triggerPrice: scaled(low), distanceToTriggerBps: 600 },
    ...{ coverFrom: String(createdAt), expiresAt: String(expiresAt) },
    verdict: { code: "dwell", from: String(createdAt + 300n) },
  });
  await api.at(createdAt + 300n);
  expect(await evaluate(api, policy)).toMatchObject({ verdict: { code: "not_met" } });
  expect(await findDue(api, policy)).toBeUndefined();

  await api.push(policy, low);
  expect(await findDue(api, policy)).toMatchObject({
    ...{ productName: btc24.name, policyId: policy.policyId },
    ...{ buyer: api.buyer.address, holder: api.buyer.address },
    ...{ coverageAmount: "100000000", payoutAmount: "80000000", strikePrice: scaled(price), expiresAt },
    ...{ observation: 1, observedAt: null, observeUntil: expiresAt - 120n },
    claim: {
      ...{ method: "POST", path: "/api/v1/triggers/prepare" },
      body: { productId: btc24.productId, policyId: String(policy.policyId) },
    },
  });
  await observe(policy);
  const first = await act.chainTime(api.protocol);
  expect(await evaluate(api, policy)).toMatchObject({
    ...{ observed: 1, distanceToTriggerBps: 0 },
    verdict: { code: "waits_for_round", observation: 2 },
  });
  await pushAt(policy, first + 10n, low);
  expect(await evaluate(api, policy)).toMatchObject({
    verdict: { code: "waits_for_time", observation: 2, from: String(first + 60n) },
  });
  await api.at(first + 59n);
  expect(await evaluate(api, policy)).toMatchObject({ verdict: { code: "waits_for_time" } });
  await api.at(first + 60n);
  expect(await findDue(api, policy)).toMatchObject({ observation: 2, observedAt: first });
  await observe(policy);
  const second = await act.chainTime(api.protocol);
  await pushAt(policy, second + 60n, low - 1n);
  expect(await findDue(api, policy)).toMatchObject({
    ...{ observation: 3, observedAt: second, observeUntil: expiresAt },
  });

  const { transactionHash, blockNumber } = await observe(policy);
  expect(await findDue(api, policy)).toBeUndefined();
  const paid = await evaluate(api, policy);
  expect(paid).toMatchObject({
    ...{ status: "Triggered", distanceToTriggerBps: null, obstacles: [], observed: 3 },
    verdict: {
      ...{ code: "triggered", submitter: stranger.address, bondAmount: "80" },
      ...{ txHash: transactionHash, blockNumber: String(blockNumber) },
      reason: `0x${Buffer.from("SETTLED_BY_KEEPER").toString("hex").padEnd(64, "0")}`,
    },
  });
  expect(listed(paid)).toEqual([
    [3, "600", "TRIGGER_DROP"],
    [2, "600", "ACCRUING"],
    [1, "600", "ACCRUING"],
  ]);
  const newest = paid.rounds.slice(0, 4).map(({ verdict }) => verdict);
  expect(newest).toEqual(["counts", "counts", "counts", "before_window"]);
  await api.push(policy, price);
});

test("an observation above the trigger price resets a policy, which begins anew at once", async () => {
  const policy = await api.buy(btc24);
  const { createdAt, low, price } = policy;
  const first = await observeAt(policy, createdAt + 300n);
  await pushAt(policy, first + 10n, price);
  await observe(policy);
  const reset = await evaluate(api, policy);
  expect(reset).toMatchObject({ observed: 0, verdict: { code: "not_met" } });
  expect(listed(reset)).toEqual([
    [0, "0", "RESET"],
    [1, "600", "ACCRUING"],
  ]);
  await pushAt(policy, first + 20n, low);
  expect(await findDue(api, policy)).toMatchObject({ observation: 1, observedAt: null });
  await observe(policy);
  expect(listed(await evaluate(api, policy)).map(([count]) => count)).toEqual([1, 0, 1]);
  await api.push(policy, price);
});

test("recent triggers and claims name who made the third observation, by the keeper contract or by the router", async () => {
  const [byKeeper, byRouter, byContract] = [await api.buy(btc24), await api.buy(btc24), await api.buy(btc24)];
  const firsts: string[] = [];
  for (const policy of [byKeeper, byRouter, byContract]) {
    await observeTwice(policy);
    const [, first] = (await evaluate(api, policy)).observations;
    firsts.push(String(first?.blockTimestamp));
    if (policy === byKeeper) await observe(policy);
    if (policy === byRouter) await act.submitTrigger(api.protocol, owner, btc24, policy.policyId);
    if (policy === byContract) {
      const wallet = await (await deployWalletFactory(api.chain)).create(owner);
      const to = api.chain.deployment.contracts.shieldKeeper ?? "0x";
      const data = upkeepCalldata(policy.productId, [policy.policyId]);
      await act.send(api.protocol, owner, wallet, walletCalls({ to, data }));
    }
    await api.push(policy, policy.price);
  }
  // Of a call by the keeper contract the log names nobody: it is the transaction's sender.
  const newestFirst = [
    [byContract, owner],
    [byRouter, owner],
    [byKeeper, stranger],
  ] as const;
  expect(await evaluate(api, byRouter)).toMatchObject({
    verdict: {
      ...{ code: "triggered", submitter: owner.address },
      reason: `0x${Buffer.from("TRIGGER_DROP").toString("hex").padEnd(64, "0")}`,
    },
  });
  const recent = recentList.parse((await api.request("/api/v1/triggers/recent?limit=3")).json);
  expect(recent.triggers).toMatchObject(
    newestFirst.map(([{ policyId }, { address: submitter }]) => ({
      ...{ policyId: String(policyId), submitter, buyer: api.buyer.address, bondAmount: "80" },
    })),
  );
  const { claims } = claimList.parse((await api.request("/api/v1/stats/claims?limit=3")).json);
  expect(claims).toMatchObject(
    newestFirst.map(([{ policyId, createdAt, low }, { address: submitter }], index) => {
      const first = firsts.at(-1 - index);
      return {
        ...{ policy_id: String(policyId), submitter, paid: "80", trigger_price: scaled(low) },
        ...{ bought_at: String(createdAt), first_observed_at: first },
        seconds_to_trigger: expect.any(Number),
        seconds_from_first_observation: expect.any(Number),
      };
    }),
  );
  for (const { triggered_at, first_observed_at, seconds_from_first_observation } of claims) {
    expect(seconds_from_first_observation).toBe(Number(triggered_at) - Number(first_observed_at));
    expect(seconds_from_first_observation).toBeGreaterThanOrEqual(120);
  }
  await expectDue(api);
});

test("a pause stops no observation", async () => {
  const policy = await api.buy(btc24);
  await observeTwice(policy);
  await act.setRouterPaused(api.protocol, owner, true);
  await act.setGlobalPause(api.protocol, owner, true);
  expect(await findDue(api, policy)).toMatchObject({ observation: 3 });
  expect(await evaluate(api, policy)).toMatchObject({ verdict: { code: "due" }, obstacles: [] });
  await act.setGlobalPause(api.protocol, owner, false);
  await act.setRouterPaused(api.protocol, owner, false);
  await api.push(policy, policy.price);
});

test("without the sequencer nothing is due, and after an outage only from the second after its grace period", async () => {
  const policy = await api.buy(btc24);
  await pushAt(policy, policy.createdAt + 300n, policy.low);
  await act.setSequencer(api.protocol, owner, { down: true, startedAt: await act.chainTime(api.protocol) });
  expect(await evaluate(api, policy)).toMatchObject({
    verdict: { code: "blocked", observation: 1 },
    obstacles: [{ code: "sequencer_down", until: null }],
  });
  expect(await expectDue(api)).toEqual([]);
  const startedAt = await act.chainTime(api.protocol);
  await act.setSequencer(api.protocol, owner, { down: false, startedAt });
  const until = startedAt + HOUR + 1n;
  await pushAt(policy, until - 10n, policy.low);
  await api.at(until - 1n);
  expect(await evaluate(api, policy)).toMatchObject({
    verdict: { code: "blocked" },
    obstacles: [{ code: "sequencer_grace", until: String(until) }],
  });
  expect(await expectDue(api)).toEqual([]);
  await api.at(until);
  expect(await findDue(api, policy)).toMatchObject({ observation: 1 });
  await api.push(policy, policy.price);
});

test("a price is observed until it is an hour old, until another one falls", async () => {
  const policy = await api.buy(btc24);
  const { updatedAt } = await pushAt(policy, policy.createdAt + 300n, policy.low);
  const freshUntil = updatedAt + HOUR;
  await api.at(freshUntil);
  expect(await findDue(api, policy)).toBeDefined();
  await api.at(freshUntil + 1n);
  expect(await evaluate(api, policy)).toMatchObject({
    verdict: { code: "stale", freshUntil: String(freshUntil) },
  });
  expect(await findDue(api, policy)).toBeUndefined();
  await api.push(policy, policy.low);
  expect(await findDue(api, policy)).toBeDefined();
  await api.push(policy, policy.price);
});

test("a policy is lost once too little is left for three observations, due until its last second, and then expired", async () => {
  const untouched = await api.buy(eth1h);
  const policy = await api.buy(btc1h);
  const { expiresAt } = policy;
  await observeAt(policy, expiresAt - 130n);
  await observeAt(policy, expiresAt - 65n);
  expect(await evaluate(api, policy)).toMatchObject({ observed: 2, verdict: { code: "waits_for_round" } });
  expect(await evaluate(api, untouched)).toMatchObject({ observed: 0, verdict: { code: "lost" } });
  await pushAt(policy, expiresAt - 2n, policy.low);
  await api.at(expiresAt);
  expect(await findDue(api, policy)).toMatchObject({ observation: 3, observeUntil: expiresAt });
  await api.at(expiresAt + 1n);
  expect(await evaluate(api, policy)).toMatchObject({
    ...{ status: "Expired", observed: 2 },
    verdict: { code: "expired", closedAt: null },
  });
  const late = await api.push(policy, policy.low);
  await observe(policy);
  const closedAt = await act.chainTime(api.protocol);
  const closed = await evaluate(api, policy);
  expect(closed).toMatchObject({ verdict: { code: "expired", closedAt: String(closedAt) } });
  expect(listed(closed).map(([count]) => count)).toEqual([2, 1]);
  expect(closed.rounds[0]).toMatchObject({ roundId: late.roundId, verdict: "after_window" });
  await expectDue(api);
  await api.push(policy, policy.price);
});

test("a reorganisation that takes an observation away makes the policy due again", async () => {
  const policy = await api.buy(eth24);
  await pushAt(policy, policy.createdAt + 300n, policy.low);
  await api.chain.client.mine({ blocks: 2 });
  await observe(policy);
  expect(await evaluate(api, policy)).toMatchObject({ observed: 1, verdict: { code: "waits_for_round" } });
  expect(await askRpc(api.chain.url, "anvil_reorg", [1, []])).toEqual({ result: null });
  expect(await findDue(api, policy)).toMatchObject({ observation: 1 });
  expect(await evaluate(api, policy)).toMatchObject({ observed: 0, observations: [] });
  await api.push(policy, policy.price);
});

newFeedPhaseTest(() => api);
