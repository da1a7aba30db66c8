/** What the keeper needs of the contracts: the gas of an upkeep, and adapters that let the keeper contract observe. */
import { type Address, encodeFunctionData, parseEventLogs, zeroAddress } from "viem";
import { beforeAll, expect, test } from "vitest";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { anvilAccount, createReadClient } from "../../lib/chain/client.ts";
import { upkeepGas } from "../../lib/chain/trigger.ts";
import { lower } from "../../lib/lower.ts";
import { DWELL, OBSERVATION_INTERVAL } from "../../lib/price-rules.ts";
import type { Protocol } from "../../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { MAX_SETTLE_GAS } from "../../workers/keeper/batches.ts";
import { readWays } from "../../workers/keeper/ways.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import * as act from "../support/protocol-actions.ts";

const btc24 = termsOf("FLASHBTC24-001");
const COVERAGE = 1_000_000_000n;

let chain: TestChain;
let protocol: Protocol;
beforeAll(async () => {
  chain = await startChain();
  protocol = act.openProtocol(chain.deployment, chain.url);
  await act.mintUsdc(protocol, chain.owner, chain.owner.address, 1_000n * COVERAGE);
  await act.approveUsdc(protocol, chain.owner, chain.deployment.contracts.coverRouter);
  await act.refreshFeeds(protocol, chain.owner);
});

async function buy(count: number): Promise<bigint[]> {
  const ids: bigint[] = [];
  for (let n = 0; n < count; n++)
    ids.push((await act.purchase(protocol, chain.owner, btc24, COVERAGE)).policyId);
  return ids;
}

/** Observes policies three times with the keeper's gas limit. @returns the gas of the three upkeeps */
async function pay(ids: readonly bigint[]): Promise<bigint[]> {
  const { price } = await act.latestRound(protocol, "BTC");
  const gas: bigint[] = [];
  for (const wait of [DWELL, OBSERVATION_INTERVAL, OBSERVATION_INTERVAL]) {
    await act.timeTravel(protocol, BigInt(wait));
    await act.pushPrice(protocol, chain.owner, "BTC", price / 2n);
    const receipt = await act.observe(protocol, chain.owner, btc24, ids, upkeepGas(ids.length));
    expect(
      parseEventLogs({ abi: shieldKeeperAbi, logs: receipt.logs, eventName: "SettlementFailed" }),
    ).toEqual([]);
    gas.push(receipt.gasUsed);
    const paid = parseEventLogs({ abi: policyManagerAbi, logs: receipt.logs, eventName: "PolicyTriggered" });
    expect(paid).toHaveLength(gas.length === 3 ? ids.length : 0);
  }
  await act.pushPrice(protocol, chain.owner, "BTC", price);
  return gas;
}

test("an upkeep leaves a fifth of its gas limit, also as the first of a month", async () => {
  const [first, single, ten] = [await pay(await buy(1)), await pay(await buy(1)), await pay(await buy(10))];
  for (const gas of [...first, ...single]) expect(gas).toBeLessThan((upkeepGas(1) * 4n) / 5n);
  for (const gas of ten) expect(gas).toBeLessThan((upkeepGas(10) * 4n) / 5n);
  for (const gas of first) expect(gas).toBeLessThan(MAX_SETTLE_GAS);
});

const wallet = lower(anvilAccount(9).address);
const ways = (others?: readonly Address[], { contracts } = chain.deployment) =>
  readWays(createReadClient(chain.deployment, chain.url), contracts, wallet, others);
const setRelayer = (adapter: Address, relayer: Address) => {
  const data = encodeFunctionData({ abi: shieldAdapterAbi, functionName: "setRelayer", args: [relayer] });
  return act.send(protocol, chain.owner, adapter, data);
};
const sendToKeeper = (paused: boolean) => {
  const { shieldKeeper = zeroAddress } = chain.deployment.contracts;
  const data = encodeFunctionData({ abi: shieldKeeperAbi, functionName: "setPaused", args: [paused] });
  return act.send(protocol, chain.owner, shieldKeeper, data);
};

test("the keeper contract settles for all products' adapters, and for a replaced one no more", async () => {
  const adapter = lower((await act.coverOf(protocol, btc24, 1n)).adapter);
  const before = await ways();
  expect(before).toEqual({
    of: new Map([...before.of.keys()].map((one) => [one, "upkeep"])),
    fault: undefined,
  });
  expect(before.of.get(adapter)).toBe("upkeep");
  const next = lower(await act.replaceAdapter(protocol, chain.owner, btc24));
  const after = await ways([adapter]);
  expect(after.fault).toBeUndefined();
  expect([after.of.get(adapter), after.of.get(next)]).toEqual([undefined, "upkeep"]);
  expect(after.of.size).toBe(before.of.size);
  // Its relayer still may.
  await setRelayer(adapter, wallet);
  expect((await ways([adapter])).of.get(adapter)).toBe("adapter");
});

test("a paused keeper contract, an adapter with another keeper, and no keeper contract: the relayer's ways, or a fault", async () => {
  const [adapter = zeroAddress, ...others] = (await ways()).of.keys();
  await sendToKeeper(true);
  expect(await ways()).toEqual({
    of: new Map(),
    fault: expect.stringMatching(/0x[0-9a-fA-F]{40} is paused, and/),
  });
  await setRelayer(adapter, wallet);
  await act.setRelayer(protocol, chain.owner, wallet, true);
  const paused = await ways();
  expect(paused.of).toEqual(
    new Map([[adapter, "adapter"], ...others.map((one) => [one, "router"] as const)]),
  );
  expect(paused.fault).toContain(others.join(", "));
  expect(paused.fault).not.toContain(adapter);
  await sendToKeeper(false);
  await setRelayer(adapter, zeroAddress);
  await act.setRelayer(protocol, chain.owner, wallet, false);
  const data = encodeFunctionData({ abi: shieldAdapterAbi, functionName: "setKeeper", args: [zeroAddress] });
  await act.send(protocol, chain.owner, adapter, data);
  const { fault, of } = await ways();
  expect(fault).toMatch(new RegExp(`is not the keeper of ${adapter}`, "i"));
  expect([...of.keys()]).toEqual(others);
  const { shieldKeeper: _, ...contracts } = chain.deployment.contracts;
  expect(await ways([], { ...chain.deployment, contracts })).toEqual({
    ...{ of: new Map(), fault: expect.stringContaining("names no keeper contract") },
  });
});
