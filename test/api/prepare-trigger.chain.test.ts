/**
 * Prepared observations, against the contracts. What this proves: the prepared call, with its gas limit, observes and pays when any
 * wallet sends it, and every reason why it would not is an issue without a step.
 */
import { parseEventLogs } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { addressOf, openSteps } from "../../api/prepare/steps.ts";
import { planTrigger } from "../../api/prepare/trigger.ts";
import { call } from "../../bench/miner.ts";
import { anvilAccount, createReadClient, type ReadClient } from "../../lib/chain/client.ts";
import type { Contracts } from "../../lib/deployments.ts";
import { catalogueOf } from "../../lib/products.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { usdc } from "../support/ledger.ts";
import * as act from "../support/protocol-actions.ts";

const btc24 = termsOf("FLASHBTC24-001");
const [owner, buyer, stranger] = [anvilAccount(0), anvilAccount(2), anvilAccount(7)];
/** Code that takes no bonds: it reverts without a reason. */
const REVERTS = "0x5f5ffd";
/** Code that uses up its gas. */
const LOOPS = "0x5b5f56";

let chain: TestChain;
let protocol: act.Protocol;
let reads: ReadClient;
beforeAll(async () => {
  chain = await startChain({ retired: false });
  protocol = act.openProtocol(chain.deployment, chain.url);
  reads = createReadClient(chain.deployment, chain.url);
  await act.mintUsdc(protocol, buyer, buyer.address, usdc(1_000_000));
  await act.approveUsdc(protocol, buyer, chain.deployment.contracts.coverRouter);
});

let policyId: bigint;
let start: bigint;
let price: bigint;
let low: bigint;
/** A new policy at a fresh price, with its trigger price. */
beforeEach(async () => {
  await act.pushPrice(protocol, owner, "BTC", 60_000_00000000n);
  ({ policyId } = await act.purchase(protocol, buyer, btc24, usdc(100)));
  ({ start } = await act.coverOf(protocol, btc24, policyId));
  ({ price } = await act.latestRound(protocol, "BTC"));
  low = await act.triggerPrice(protocol, btc24, policyId);
});

const usual = () => ({ contracts: chain.deployment.contracts, catalogue: catalogueOf(chain.deployment) });

async function plan(changes: Partial<ReturnType<typeof usual>> = {}, key = policyId) {
  const { number, hash, timestamp } = await chain.client.getBlock();
  const context = {
    ...usual(),
    ...changes,
    reads,
    block: { number, hash, timestamp },
    from: stranger.address,
  };
  return planTrigger(context, { productId: btc24.productId, policyId: key });
}

/** The issues; there is a step exactly where there is none. */
async function issues(changes: Partial<ReturnType<typeof usual>> = {}) {
  const { issues: found, steps } = await plan(changes);
  expect(steps.length).toBe(found.length === 0 ? 1 : 0);
  return found;
}

/** A round at a time. */
async function push(at: bigint, value = low) {
  await act.nextBlockAt(protocol, at);
  await act.pushPrice(protocol, owner, "BTC", value);
}

async function preparedStep() {
  const [step] = openSteps((await plan()).steps);
  if (step?.gas === undefined) throw new Error("there is no step with a gas limit");
  const { contract, data, gas } = step;
  return { to: addressOf(chain.deployment.contracts, contract), data, gas };
}

/** A stranger sends the prepared call. @returns the policy's count after it, and the receipt */
async function observeAsPrepared() {
  const { to, data, gas } = await preparedStep();
  const receipt = await act.send(protocol, stranger, to, data, 0n, gas);
  const [observed] = parseEventLogs({
    ...{ abi: flashShieldAbi, logs: receipt.logs, eventName: "ConfirmationObserved" },
  });
  return { count: observed?.args.count, receipt };
}

test("a stranger observes with each prepared call, and the third pays the buyer", async () => {
  for (const [before, count] of [0, 1, 2].map((n) => [n, n + 1] as const)) {
    await push(start + 300n + 70n * BigInt(before));
    const { count: observed, receipt } = await observeAsPrepared();
    expect(observed).toBe(count);
    const paid = parseEventLogs({ abi: policyManagerAbi, logs: receipt.logs, eventName: "PolicyTriggered" });
    expect(paid.map(({ args }) => [args.policyId, args.buyer])).toEqual(
      count === 3 ? [[policyId, buyer.address]] : [],
    );
  }
  expect(await issues()).toMatchObject([{ code: "already_finalized", status: "Triggered" }]);
});

test("with the node's estimate the call succeeds and observes nothing: hence the gas limit", async () => {
  await push(start + 300n);
  const { to, data, gas } = await preparedStep();
  const estimate = await chain.client.estimateGas({ account: stranger.address, to, data });
  expect(estimate).toBeLessThan(gas);
  const { logs, status } = await act.send(protocol, stranger, to, data, 0n, estimate);
  expect(status).toBe("success");
  const events = (abi: typeof shieldKeeperAbi | typeof flashShieldAbi) =>
    parseEventLogs({ abi, logs }).map(({ eventName }) => eventName);
  expect(events(flashShieldAbi)).toEqual([]);
  expect(events(shieldKeeperAbi)).toEqual(["SettlementFailed"]);
  expect((await observeAsPrepared()).count).toBe(1);
});

test("above the trigger price it is not triggered, whatever was observed before: a call would reset it", async () => {
  expect(await issues()).toEqual([
    expect.objectContaining({
      ...{ code: "not_triggered", blocking: true },
      ...{ price: String(price * 10n ** 10n), triggerPrice: String(low * 10n ** 10n) },
    }),
  ]);
  await push(start + 300n);
  await observeAsPrepared();
  await push(start + 400n, low + 1n);
  expect(await issues()).toMatchObject([{ code: "not_triggered" }]);
});

test("it is too early until 300 seconds after the purchase, and 60 after an observation, until the feed has a newer round", async () => {
  await push(start + 100n);
  expect(await issues()).toMatchObject([{ code: "too_early", from: String(start + 300n) }]);
  await act.mineAt(protocol, start + 299n);
  expect(await issues()).toMatchObject([{ code: "too_early" }]);
  await act.mineAt(protocol, start + 300n);
  expect(await issues()).toEqual([]);

  await observeAsPrepared();
  const observedAt = await act.chainTime(protocol);
  expect(await issues()).toMatchObject([{ code: "too_early", from: String(observedAt + 60n) }]);
  await act.mineAt(protocol, observedAt + 60n);
  expect(await issues()).toMatchObject([
    {
      ...{ code: "not_settleable", reason: "NOT_SETTLEABLE_YET" },
      message: expect.stringContaining("needs a newer one"),
    },
  ]);
  await push(observedAt + 70n);
  expect(await issues()).toEqual([]);
});

test("a reset begins anew, at once", async () => {
  await push(start + 300n);
  await observeAsPrepared();
  await push(start + 380n, price);
  await act.observe(protocol, stranger, btc24, [policyId]);
  await push(start + 382n);
  expect(await issues()).toEqual([]);
  expect((await observeAsPrepared()).count).toBe(1);
});

test("a price older than an hour is stale, and an answer holds until then", async () => {
  await push(start + 300n);
  const { updatedAt } = await act.latestRound(protocol, "BTC");
  await act.mineAt(protocol, updatedAt + 3_600n);
  const { issues: none, endsAt } = await plan();
  expect([none, endsAt]).toEqual([[], [start + 86_400n, updatedAt + 3_600n]]);
  await act.mineAt(protocol, updatedAt + 3_601n);
  expect(await issues()).toMatchObject([{ code: "price_stale", updatedAt: String(updatedAt) }]);
});

test("without the sequencer nothing is observed, nor in the hour after", async () => {
  await push(start + 300n);
  await act.setSequencer(protocol, owner, { down: true, startedAt: start });
  expect(await issues()).toMatchObject([{ code: "sequencer_down" }]);
  await act.setSequencer(protocol, owner, { down: false, startedAt: start });
  expect(await issues()).toMatchObject([{ code: "sequencer_down" }]);
  await act.pushPrice(protocol, owner, "BTC", price);
  expect(await issues()).toMatchObject([{ code: "sequencer_down" }, { code: "not_triggered" }]);
  await push(start + 3_601n);
  expect(await issues()).toEqual([]);
});

test("after its end a policy has expired", async () => {
  await act.mineAt(protocol, start + 86_401n);
  expect(await issues()).toMatchObject([{ code: "expired", expiresAt: String(start + 86_400n) }]);
});

test("of a product outside the catalogue the trigger price is unknown: a call could reset it", async () => {
  await push(start + 300n);
  expect(await issues({ catalogue: [] })).toMatchObject([
    { code: "not_settleable", reason: "unknown trigger price" },
  ]);
});

test("a policy that never existed is not found", async () => {
  await expect(plan({}, 999n)).rejects.toMatchObject({ code: "policy_not_found" });
});

test.each([
  ["refuses bonds", REVERTS],
  ["uses up all gas", LOOPS],
] as const)("a third observation for a buyer whose code %s is not settleable", async (_, code) => {
  await act.observeTwice(protocol, stranger, btc24, policyId);
  const before = (await chain.client.getCode({ address: buyer.address })) ?? "0x";
  await act.setCode(protocol, buyer.address, code);
  const reason = `ERC1155InvalidReceiver(${buyer.address})`;
  expect(await issues()).toMatchObject([{ code: "not_settleable", blocking: true, reason }]);
  await act.setCode(protocol, buyer.address, before);
  expect(await issues()).toEqual([]);
});

/** The owner calls a contract. */
const own = (...of: Parameters<typeof call> extends [unknown, ...infer Rest] ? Rest : never) => {
  const { to, data } = call(owner, ...of);
  return act.send(protocol, owner, to, data);
};

test("the keeper contract is closed where there is none, it is paused, or the adapter has another", async () => {
  await push(start + 300n);
  const closed = [{ code: "keeper_closed", blocking: true }];
  const without: Contracts = { ...chain.deployment.contracts, shieldKeeper: undefined };
  expect(await issues({ contracts: without })).toMatchObject(closed);

  const keeper = chain.deployment.contracts.shieldKeeper ?? "0x";
  await own(keeper, shieldKeeperAbi, "setPaused", true);
  expect(await issues()).toMatchObject(closed);
  await own(keeper, shieldKeeperAbi, "setPaused", false);

  const { adapter } = await act.coverOf(protocol, btc24, policyId);
  await own(adapter, shieldAdapterAbi, "setKeeper", stranger.address);
  expect(await issues()).toMatchObject(closed);
  await own(adapter, shieldAdapterAbi, "setKeeper", keeper);
  expect(await issues()).toEqual([]);
});

// The last test: the product's policies count from 1 again.
test("an open policy of a replaced adapter is out of the keeper contract's reach", async () => {
  await push(start + 300n);
  await act.replaceAdapter(protocol, owner, btc24);
  expect(await issues()).toMatchObject([{ code: "keeper_closed" }]);
  await act.observe(protocol, stranger, btc24, [policyId]);
  expect((await act.coverOf(protocol, btc24, policyId)).count).toBe(0);
});
