/** Many triggers in one transaction, through Multicall3. */
import { decodeFunctionResult, encodeFunctionData, type Hex, multicall3Abi, parseEventLogs } from "viem";
import { expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { multicall3Abi as ourAbi } from "../../abis/Multicall3.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { decodeRevert } from "../../lib/chain/reverts.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { alice, expectRevert, owner, relayer, stranger, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const btc1h = termsOf("FLASHBTC1H-001");
/** BTC starts at 60,000 USD, so a drop of 2.5 % is 58,500. */
const LIMIT = 58_500_00000000n;

function multicall3() {
  const { multicall3: address } = protocol().deployment;
  if (!address) throw new Error("the deployment has no Multicall3");
  return address;
}

async function buy(count: number): Promise<bigint[]> {
  const policyIds: bigint[] = [];
  for (let i = 0; i < count; i++) {
    const { policyId } = await act.purchase(protocol(), alice, btc1h, 1_000n * USDC);
    policyIds.push(policyId);
  }
  return policyIds;
}

/** Drops the price to the trigger price for three rounds. @returns their proof. */
async function fall(): Promise<Hex> {
  const { roundId } = await act.latestRound(protocol(), "BTC");
  for (let i = 0; i < 3; i++) await act.pushPrice(protocol(), owner, "BTC", LIMIT);
  return act.oracleProof([roundId + 1n, roundId + 2n, roundId + 3n]);
}

const triggers = (policyIds: readonly bigint[], proof: Hex, allowFailure = true) =>
  policyIds.map((policyId) => ({
    target: protocol().deployment.contracts.coverRouter,
    allowFailure,
    callData: encodeFunctionData({
      abi: coverRouterAbi,
      functionName: "submitTrigger",
      args: [btc1h.productId, policyId, proof],
    }),
  }));

/** Encoded with the ABI of the canonical contract. */
const aggregate = (calls: ReturnType<typeof triggers>) =>
  encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] });

/** What a batch would answer in the newest block, decoded with the ABI of the canonical contract. */
async function simulate(calls: ReturnType<typeof triggers>) {
  const { data = "0x" } = await protocol().client.call({
    account: stranger.address,
    to: multicall3(),
    data: aggregate(calls),
  });
  return decodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", data });
}

const send = (calls: ReturnType<typeof triggers>) =>
  act.send(protocol(), stranger, multicall3(), aggregate(calls));

const isTriggered = async (policyId: bigint) =>
  (
    await protocol().client.readContract({
      abi: policyManagerAbi,
      address: protocol().deployment.contracts.policyManager,
      functionName: "getPolicy",
      args: [btc1h.productId, policyId],
    })
  ).triggered;

test("encodes calls as the canonical Multicall3 does", () => {
  const calls = triggers([1n, 2n], act.oracleProof([1n, 2n, 3n]));
  expect(encodeFunctionData({ abi: ourAbi, functionName: "aggregate3", args: [calls] })).toBe(
    aggregate(calls),
  );
});

test("a trigger that reverts does not stop the others, and its result has the reason", async () => {
  const [first = 0n, paid = 0n, last = 0n] = await buy(3);
  const proof = await fall();
  await act.submitTrigger(protocol(), relayer, btc1h, paid, proof);
  const calls = triggers([first, paid, 99n, last], proof);

  const results = await simulate(calls);
  expect(results.map(({ success }) => success)).toEqual([true, false, false, true]);
  expect(results.map(({ returnData }) => returnData === "0x" || decodeRevert(returnData).text)).toEqual([
    true,
    "Already triggered",
    "Policy not found",
    true,
  ]);

  const { logs } = await send(calls);
  const submitted = parseEventLogs({ abi: coverRouterAbi, logs, eventName: "TriggerSubmitted" });
  expect(submitted.map(({ args }) => [args.policyId, args.submitter])).toEqual([
    [first, multicall3()],
    [last, multicall3()],
  ]);
  const bonds = parseEventLogs({ abi: policyManagerAbi, logs, eventName: "PolicyTriggered" });
  expect(bonds.map(({ args }) => [args.buyer, args.bondAmount])).toEqual([
    [alice.address, 800n],
    [alice.address, 800n],
  ]);
});

test("a batch reverts as a whole when a call fails that may not", async () => {
  const [first = 0n] = await buy(1);
  const proof = await fall();
  await expectRevert(send(triggers([first, 99n], proof, false)), "Multicall3: call failed");
  expect(await isTriggered(first)).toBe(false);
});

test("answers with the return data of each call", async () => {
  const { coverRouter } = protocol().deployment.contracts;
  const read = (functionName: "getProductCount" | "paused") => ({
    target: coverRouter,
    allowFailure: false,
    callData: encodeFunctionData({ abi: coverRouterAbi, functionName }),
  });
  const [count, paused] = await simulate([read("getProductCount"), read("paused")]);
  const decode = (functionName: "getProductCount" | "paused", data: Hex = "0x") =>
    decodeFunctionResult({ abi: coverRouterAbi, functionName, data });
  expect(decode("getProductCount", count?.returnData)).toBeGreaterThan(6n);
  expect(decode("paused", paused?.returnData)).toBe(false);
});

test("a batch of triggers costs less gas than the same triggers alone", async () => {
  const [first = 0n, ...others] = await buy(11);
  const [alone, together] = [others.slice(0, 5), others.slice(5)];
  const proof = await fall();
  // The first bond of a month also pays for the storage of its epoch.
  await act.submitTrigger(protocol(), stranger, btc1h, first, proof);
  let gasAlone = 0n;
  for (const policyId of alone)
    gasAlone += (await act.submitTrigger(protocol(), stranger, btc1h, policyId, proof)).receipt.gasUsed;
  const { gasUsed } = await send(triggers(together, proof));
  for (const policyId of together) expect(await isTriggered(policyId)).toBe(true);
  expect(gasUsed).toBeLessThan(gasAlone);
});
