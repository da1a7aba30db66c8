/**
 * Times in which a policy has met its price and cannot be triggered: the node away, a feed that goes stale, the sequencer down and
 * its grace hour. What this proves, from the chain: nothing is sent then, and what can be triggered later is.
 */
import { numberToHex } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { MAX_PRICE_AGE, SEQUENCER_GRACE } from "../../lib/price-rules.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineOnlyTransactions } from "../support/chain.ts";
import { halvePrice, observationsOf, passDwell } from "../support/falls.ts";
import * as act from "../support/protocol-actions.ts";
import {
  btc1h,
  buyPolicies,
  crash,
  eth24,
  owner,
  prepareBuyer,
  pushLow,
  untilAll,
  untilPaid,
} from "./support/keeper-policies.ts";
import { type KeeperSetup, startKeeperSetup } from "./support/keeper-setup.ts";
import { expectNothingSent, expectTriggeredOnce, failuresOf } from "./support/keeper-truth.ts";

let setup: KeeperSetup;
beforeAll(async () => {
  setup = await startKeeperSetup();
  await prepareBuyer(setup);
});
beforeEach(() => act.refreshFeeds(setup.protocol, owner));

/** From here on no call of the writer reaches the node. */
const takeNodeAway = () => setup.proxy.intercept(async () => "lost");
const bringNodeBack = () => setup.proxy.intercept();

test("the node is away for the whole window but its last three minutes: triggered in them", async () => {
  const { chain, protocol } = setup;
  const due = await buyPolicies(setup, 3);
  const endsAt = (await act.chainTime(protocol)) + BigInt(btc1h.durationSeconds);
  takeNodeAway();
  await crash(setup);
  // From here on time passes with transactions alone: a busy machine cannot miss the end.
  await mineOnlyTransactions(chain);
  await chain.client.setBlockTimestampInterval({ interval: 1 });
  await act.mineAt(protocol, endsAt - 180n);
  bringNodeBack();
  await untilPaid(setup, due);
  await expectTriggeredOnce(setup, due);
  expect(await act.chainTime(protocol)).toBeLessThanOrEqual(endsAt);
  await chain.client.removeBlockTimestampInterval();
  await mineEverySecond(chain);
});

test("the writer's node lacks the block in which policies fall due: that is no failure, and they are triggered once it has it", async () => {
  const due = await buyPolicies(setup, 2);
  await passDwell(setup.protocol);
  const before = await setup.chain.client.getBlockNumber();
  let simulations = 0;
  setup.proxy.intercept(async (call, forward) => {
    if (call.method !== "eth_simulateV1") return forward();
    simulations += 1;
    return simulations > 2 ? forward() : forward({ ...call, params: [call.params[0], numberToHex(before)] });
  });
  await halvePrice(setup.protocol, owner, "BTC");
  await untilPaid(setup, due);
  await expectTriggeredOnce(setup, due);
  expect(simulations).toBeGreaterThan(2);
  expect(await failuresOf(setup, due)).toEqual([]);
  bringNodeBack();
});

test("the sequencer is down, and then the price is stale: nothing is sent until a fresh round is low", async () => {
  const { protocol } = setup;
  const due = await buyPolicies(setup, 2, eth24);
  const setSequencer = async (down: boolean) =>
    act.setSequencer(protocol, owner, { down, startedAt: await act.chainTime(protocol) });
  await setSequencer(true);
  await expectNothingSent(setup, () => crash(setup, "ETH"));
  // In the hour of grace.
  await expectNothingSent(setup, async () => {
    await setSequencer(false);
    await act.timeTravel(protocol, BigInt(SEQUENCER_GRACE) / 2n);
    await pushLow(setup, "ETH");
  });
  // After it, while the newest round is older than an hour.
  await expectNothingSent(setup, () => act.timeTravel(protocol, BigInt(MAX_PRICE_AGE) + 1n));
  expect(await failuresOf(setup, due, eth24)).toEqual([]);
  await pushLow(setup, "ETH");
  await untilPaid(setup, due, eth24);
  await expectTriggeredOnce(setup, due, eth24);
});

test("the global pause stops sales only: due policies are triggered in it, and expired ones closed", async () => {
  const { protocol } = setup;
  const due = await buyPolicies(setup, 2, eth24);
  const [ending = 0n] = await buyPolicies(setup, 1);
  await act.setGlobalPause(protocol, owner, true);
  await crash(setup, "ETH");
  await untilPaid(setup, due, eth24);
  await expectTriggeredOnce(setup, due, eth24);
  await act.timeTravel(protocol, BigInt(btc1h.durationSeconds) + 1n);
  await untilAll(setup, "expired", [ending]);
  await act.setGlobalPause(protocol, owner, false);
});

// The last one: the index that runs does not know the new aggregator.
test("the feed's phase changes between two observations: triggered", async () => {
  const { protocol } = setup;
  const due = await buyPolicies(setup, 2);
  await crash(setup);
  await waitFor({
    what: "the first observation",
    probe: async () => (await observationsOf(protocol, btc1h, due[0] ?? 0n)) > 0 || undefined,
  });
  const { price } = await act.latestRound(protocol, "BTC");
  await act.proposeAggregator(protocol, owner, "BTC");
  await act.confirmAggregator(protocol, owner, "BTC");
  await act.pushPrice(protocol, owner, "BTC", price);
  await untilPaid(setup, due);
  await expectTriggeredOnce(setup, due);
});
