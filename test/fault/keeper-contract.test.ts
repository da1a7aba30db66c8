/**
 * Times in which the keeper contract cannot observe: it is paused, or a product has a new adapter. What this proves: nothing is sent
 * in vain and the operator is told once; expired policies are closed; what can be observed later is paid.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { encodeFunctionData, zeroAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { observationsOf } from "../support/falls.ts";
import * as act from "../support/protocol-actions.ts";
import {
  btc1h,
  buyPolicies,
  crash,
  eth24,
  owner,
  prepareBuyer,
  untilAll,
  untilPaid,
} from "./support/keeper-policies.ts";
import { type KeeperSetup, keeperWallet, startKeeperSetup } from "./support/keeper-setup.ts";
import {
  expectNothingSent,
  expectTriggeredOnce,
  failuresOf,
  keeperTransactions,
  untilFault,
} from "./support/keeper-truth.ts";

let setup: KeeperSetup;
beforeAll(async () => {
  setup = await startKeeperSetup();
  await prepareBuyer(setup);
});

function setPaused(paused: boolean) {
  const { protocol } = setup;
  const { shieldKeeper = zeroAddress } = protocol.deployment.contracts;
  const data = encodeFunctionData({ abi: shieldKeeperAbi, functionName: "setPaused", args: [paused] });
  return act.send(protocol, owner, shieldKeeper, data);
}

test("the keeper contract is paused: nothing is observed, expired policies are closed, the operator is told once; then paid", async () => {
  const { protocol, stack } = setup;
  const due = await buyPolicies(setup, 2, eth24);
  const ending = await buyPolicies(setup, 2);
  await setPaused(true);
  // The keeper knows the contracts of two seconds ago.
  await sleep(2500);
  await expectNothingSent(setup, async () => {
    await crash(setup, "ETH");
    await untilFault(setup, /keeper contract 0x[0-9a-fA-F]{40} is paused/);
  });
  await act.timeTravel(protocol, BigInt(btc1h.durationSeconds) + 1n);
  await untilAll(setup, "expired", ending);
  const told = () => stack.output("writer").match(/the keeper cannot send or observe/g);
  await expect.poll(told).toHaveLength(1);
  await setPaused(false);
  await act.refreshFeeds(protocol, owner);
  await untilPaid(setup, due, eth24);
  await expectTriggeredOnce(setup, due, eth24);
  await untilFault(setup, /^$/);
  expect(await failuresOf(setup, due, eth24)).toEqual([]);
});

test("a product has a new adapter: nothing is sent for the old one's policies, which are closed; the new one's are paid", async () => {
  const { protocol, stack } = setup;
  await act.refreshFeeds(protocol, owner);
  const old = await buyPolicies(setup, 2);
  await act.replaceAdapter(protocol, owner, btc1h);
  const [renewed = 0n] = await buyPolicies(setup, 1);
  expect(old).not.toContain(renewed);
  // The keeper knows the adapters of two seconds ago, and no chain lets five minutes pass within them.
  await sleep(2500);
  await crash(setup);
  await untilPaid(setup, [renewed]);
  expect(await Promise.all(old.map((id) => observationsOf(protocol, btc1h, id)))).toEqual([0, 0]);
  const sent = (await keeperTransactions(setup)).length;
  await stack.restart("indexer");
  await act.timeTravel(protocol, BigInt(btc1h.durationSeconds) + 1n);
  await untilAll(setup, "expired", old);
  expect(await failuresOf(setup, old)).toEqual([]);
  expect(await keeperTransactions(setup)).toHaveLength(sent);
});

test("a replaced adapter has the wallet as its relayer: its policies are observed and paid, in a call each", async () => {
  const { protocol } = setup;
  await act.refreshFeeds(protocol, owner);
  const old = await buyPolicies(setup, 2);
  const { adapter } = await act.coverOf(protocol, btc1h, old[0] ?? 0n);
  const args = [keeperWallet.address] as const;
  const data = encodeFunctionData({ abi: shieldAdapterAbi, functionName: "setRelayer", args });
  await act.send(protocol, owner, adapter, data);
  await act.replaceAdapter(protocol, owner, btc1h);
  await sleep(2500);
  await crash(setup);
  await untilPaid(setup, old);
  await expectTriggeredOnce(setup, old);
  expect(await failuresOf(setup, old)).toEqual([]);
});
