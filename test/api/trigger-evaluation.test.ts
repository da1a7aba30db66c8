/**
 * What these prove: a buyer reads at each block why a policy is paid, due or not. After each step the list of due policies has
 * exactly those that the contracts would pay, each with a proof that they accept.
 */
import { beforeAll, expect, test } from "vitest";
import { triggerCalldata } from "../../lib/chain/trigger.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { deployWalletFactory, walletCalls } from "./support/contract-wallet.ts";
import { type Cover, HOUR, owner, startCover } from "./support/cover.ts";
import { newFeedPhaseTest } from "./support/new-feed-phase.ts";
import { evaluate, expectDue, findDue } from "./support/triggers.ts";

const [btc1h, btc24] = [termsOf("FLASHBTC1H-001"), termsOf("FLASHBTC24-001")];
const [eth1h, eth24] = [termsOf("FLASHETH1H-001"), termsOf("FLASHETH24-001")];

let api: Cover;
beforeAll(async () => {
  api = await startCover();
});

const scaled = (price: bigint) => String(price * 10n ** 10n);

test("a policy is due from the third round at or below its trigger price, until somebody triggers it", async () => {
  const policy = await api.buy(btc24);
  expect(await evaluate(api, policy)).toMatchObject({
    ...{ status: "Active", roundsCounted: 0, metAt: null, obstacles: [] },
    ...{ strikePrice: scaled(policy.price), triggerPrice: scaled(policy.low), distanceToTriggerBps: 600 },
    ...{ coverFrom: String(policy.createdAt), expiresAt: String(policy.expiresAt) },
    verdict: { code: "not_met", missing: 3 },
  });
  await api.push(policy, policy.low);
  await api.push(policy, policy.price);
  const one = await evaluate(api, policy);
  expect(one).toMatchObject({ verdict: { code: "not_met", missing: 2 }, distanceToTriggerBps: 600 });
  const verdicts = one.rounds.map(({ verdict }) => verdict);
  expect(verdicts.slice(0, 3)).toEqual(["above_trigger_price", "counts", "before_window"]);
  await api.push(policy, policy.low);
  expect(await evaluate(api, policy)).toMatchObject({
    verdict: { code: "not_met", missing: 1 },
    distanceToTriggerBps: 0,
  });
  expect(await findDue(api, policy)).toBeUndefined();
  const third = await api.push(policy, policy.low);

  const due = await findDue(api, policy);
  const { roundId, updatedAt } = third;
  expect(due).toMatchObject({
    ...{
      productName: btc24.name,
      policyId: policy.policyId,
      buyer: api.buyer.address,
      holder: api.buyer.address,
    },
    ...{ coverageAmount: "100000000", payoutAmount: "80000000", strikePrice: scaled(policy.price) },
    ...{ expiresAt: policy.expiresAt, metAt: updatedAt, validUntil: updatedAt + HOUR },
    claim: {
      ...{ method: "POST", path: "/api/v1/triggers/prepare" },
      body: { productId: btc24.productId, policyId: String(policy.policyId) },
    },
  });
  expect(due?.rounds.map((round) => round.roundId)).toEqual([roundId - 3n, roundId - 1n, roundId]);
  expect(due?.rounds.at(-1)).toEqual({ roundId, updatedAt, price: policy.low * 10n ** 10n });

  const proof = due?.oracleProof ?? "0x";
  const { receipt, epochId } = await act.submitTrigger(api.protocol, owner, btc24, policy.policyId, proof);
  expect(await findDue(api, policy)).toBeUndefined();
  expect(await evaluate(api, policy)).toMatchObject({
    ...{ status: "Triggered", distanceToTriggerBps: null, obstacles: [], roundsCounted: 3 },
    verdict: {
      ...{ code: "triggered", submitter: owner.address, bondId: String(epochId), bondAmount: "80" },
      ...{ txHash: receipt.transactionHash, blockNumber: String(receipt.blockNumber) },
      reason: `0x${Buffer.from("TRIGGER_DROP").toString("hex").padEnd(64, "0")}`,
      // Only three rounds counted, so they are the proof.
      provenBy: [roundId - 3n, roundId - 1n, roundId].map(String),
    },
  });
});

test("a contract that sends the trigger is its submitter, and of four rounds nobody knows which three proved it", async () => {
  const policy = await api.buy(btc24);
  await api.push(policy, policy.low, 4);
  const due = await findDue(api, policy);
  const wallets = await deployWalletFactory(api.chain);
  const wallet = await wallets.create(owner);
  const rounds = (due?.rounds ?? []).map(({ roundId }) => roundId);
  const call = { to: api.chain.deployment.contracts.coverRouter, data: triggerCalldata(policy, rounds) };
  await act.send(api.protocol, owner, wallet, walletCalls(call));
  expect(await evaluate(api, policy)).toMatchObject({
    verdict: { code: "triggered", submitter: wallet, provenBy: null },
  });
  await expectDue(api);
});

test("no pause stops a trigger", async () => {
  const policy = await api.buy(btc24);
  await api.push(policy, policy.low, 3);
  await act.setRouterPaused(api.protocol, owner, true);
  await act.setGlobalPause(api.protocol, owner, true);
  expect(await evaluate(api, policy)).toMatchObject({ verdict: { code: "due" }, obstacles: [] });
  expect(await findDue(api, policy)).toBeDefined();
  await act.setGlobalPause(api.protocol, owner, false);
  await act.setRouterPaused(api.protocol, owner, false);
  await api.push(policy, policy.price);
});

test("without the sequencer nothing is due, and after an outage only from the second after its grace period", async () => {
  const policy = await api.buy(btc24);
  await api.push(policy, policy.low, 3);
  await act.setSequencer(api.protocol, owner, { down: true, startedAt: await act.chainTime(api.protocol) });
  expect(await evaluate(api, policy)).toMatchObject({
    verdict: { code: "blocked" },
    obstacles: [{ code: "sequencer_down", until: null }],
  });
  const startedAt = await act.chainTime(api.protocol);
  await act.setSequencer(api.protocol, owner, { down: false, startedAt });
  const until = startedAt + HOUR + 1n;
  await api.at(until - 10n);
  await api.push(policy, policy.low);
  await api.at(until - 1n);
  expect(await evaluate(api, policy)).toMatchObject({
    verdict: { code: "blocked" },
    obstacles: [{ code: "sequencer_grace", until: String(until) }],
  });
  expect(await expectDue(api)).toEqual([]);
  await api.at(until);
  expect(await findDue(api, policy)).toBeDefined();
});

test("rounds prove nothing once the newest is more than an hour old, until another one falls", async () => {
  const policy = await api.buy(btc24);
  const { updatedAt } = await api.push(policy, policy.low, 3);
  const freshUntil = updatedAt + HOUR;
  await api.at(freshUntil);
  expect(await findDue(api, policy)).toMatchObject({ validUntil: freshUntil });
  await api.at(freshUntil + 1n);
  expect(await evaluate(api, policy)).toMatchObject({
    verdict: { code: "met_but_stale", freshUntil: String(freshUntil) },
    metAt: String(updatedAt),
  });
  await api.push(policy, policy.price);
  expect(await evaluate(api, policy)).toMatchObject({ verdict: { code: "met_but_stale" } });
  expect(await findDue(api, policy)).toBeUndefined();
  await api.push(policy, policy.low);
  expect(await findDue(api, policy)).toMatchObject({ metAt: updatedAt });
  await api.push(policy, policy.price);
});

test("a policy is due until the last second of its cover, and then expired, with or without three rounds", async () => {
  const untouched = await api.buy(eth1h);
  const policy = await api.buy(btc1h);
  await api.at(policy.expiresAt - 100n);
  await api.push(policy, policy.low, 3);
  await api.at(policy.expiresAt);
  expect(await findDue(api, policy)).toMatchObject({ validUntil: policy.expiresAt });
  await api.at(policy.expiresAt + 1n);
  expect(await evaluate(api, policy)).toMatchObject({
    ...{ status: "Expired", roundsCounted: 3 },
    verdict: { code: "expired", met: true, closedAt: null },
  });
  const late = await api.push(policy, policy.low);
  await act.markExpired(api.protocol, owner, btc1h, policy.policyId);
  const closedAt = await act.chainTime(api.protocol);
  const closed = await evaluate(api, policy);
  expect(closed).toMatchObject({ verdict: { code: "expired", met: true, closedAt: String(closedAt) } });
  expect(closed.rounds[0]).toMatchObject({ roundId: late.roundId, verdict: "after_window" });
  expect(await evaluate(api, untouched)).toMatchObject({ verdict: { code: "expired", met: false } });
  await expectDue(api);
  await api.push(policy, policy.price);
});

test("a reorganisation that takes the third round away makes the policy not due, and its proof is refused", async () => {
  const policy = await api.buy(eth24);
  await api.push(policy, policy.low, 2);
  await api.chain.client.mine({ blocks: 2 });
  await api.push(policy, policy.low);
  expect(await findDue(api, policy)).toBeDefined();
  expect(await askRpc(api.chain.url, "anvil_reorg", [2, []])).toEqual({ result: null });
  expect(await findDue(api, policy)).toBeUndefined();
  expect(await evaluate(api, policy)).toMatchObject({
    verdict: { code: "not_met", missing: 1 },
    metAt: null,
  });
  await api.push(policy, policy.low);
  expect(await findDue(api, policy)).toBeDefined();
  await api.push(policy, policy.price);
});

newFeedPhaseTest(() => api);
