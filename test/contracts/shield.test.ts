/** What an adapter and its slim shield accept from other callers, under any configuration of the router, and show. */
import { encodeFunctionData, pad, zeroAddress, zeroHash } from "viem";
import { expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { productIdOf } from "../../lib/products.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { alice, DAY, expectRevert, HOUR, owner, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const btc1h = termsOf("FLASHBTC1H-001");
const buy = async (product: act.ProductRef = btc1h) =>
  (await act.purchase(protocol(), alice, product, 1_000n * USDC)).policyId;
const configure = async (name: string, change: Partial<act.ProductConfig>) =>
  act.configureProduct(protocol(), owner, {
    ...(await act.productConfigOf(protocol(), btc1h.productId)),
    productId: productIdOf(name),
    ...change,
  });

test("only the manager opens and evaluates policies at an adapter, and only the adapter at its shield", async () => {
  const { adapter, shield } = await act.coverOf(protocol(), btc1h, await buy());
  const { asset } = btc1h;
  const policy = { buyer: alice.address, coverage: 1n, premium: 1n, durationSeconds: 3_600, asset } as const;
  const atAdapter = [
    encodeFunctionData({
      abi: shieldAdapterAbi,
      functionName: "createPolicy",
      args: [{ ...policy, stage: zeroHash, target: alice.address, extraData: "0x" }],
    }),
    encodeFunctionData({ abi: shieldAdapterAbi, functionName: "verifyAndCalculate", args: [1n, "0x"] }),
  ];
  const atShield = [
    encodeFunctionData({
      abi: flashShieldAbi,
      functionName: "openPolicy",
      args: [2n, alice.address, 1n, asset, 0n, HOUR],
    }),
    encodeFunctionData({ abi: flashShieldAbi, functionName: "evaluate", args: [1n] }),
  ];
  for (const data of atAdapter) await expectRevert(act.send(protocol(), owner, adapter, data), "ONLY_PM");
  for (const data of atShield) await expectRevert(act.send(protocol(), owner, shield, data), "ONLY_ROUTER");
});

test("adapter and shield tell a policy in their own layouts, before and after its end", async () => {
  const policyId = await buy();
  const { adapter, shield, start } = await act.coverOf(protocol(), btc1h, policyId);
  const end = start + HOUR;
  const info = { functionName: "getPolicyInfo", args: [policyId] } as const;
  const atAdapter = () =>
    protocol().client.readContract({ abi: shieldAdapterAbi, address: adapter, ...info });
  const atShield = () => protocol().client.readContract({ abi: flashShieldAbi, address: shield, ...info });
  const coverage = 1_000n * USDC;
  expect(await atAdapter()).toEqual([alice.address, coverage, 0n, 800n * USDC, end, 0]);
  expect(await atShield()).toEqual([alice.address, coverage, 60_000_00000000n, start, end, false]);
  await act.trigger(protocol(), owner, btc1h, policyId);
  expect([(await atAdapter())[5], (await atShield())[5]]).toEqual([2, true]);
});

test("POLICY_EXISTS for an id that the shield has", async () => {
  const { adapter, shield } = await act.coverOf(protocol(), btc1h, await buy());
  const open = (policyId: bigint) =>
    protocol().client.simulateContract({
      abi: flashShieldAbi,
      address: shield,
      functionName: "openPolicy",
      args: [policyId, alice.address, 1n, btc1h.asset, 0n, HOUR],
      account: adapter,
    });
  await open(2n);
  await expect(open(1n)).rejects.toThrow("POLICY_EXISTS");
});

test("WINDOW_MISMATCH for a window of another length, INVALID_WINDOW for none", async () => {
  await configure(btc1h.name, { durationSeconds: Number(DAY) });
  await expectRevert(buy(), "WINDOW_MISMATCH");
  await configure(btc1h.name, { durationSeconds: 0 });
  await expectRevert(buy(), "INVALID_WINDOW");
});

test("without a sequencer feed router and shield sell, observe and pay, whatever a feed says", async () => {
  const { coverRouter, sequencerFeed } = protocol().deployment.contracts;
  const { shield } = await act.coverOf(protocol(), btc1h, await buy());
  await act.setSequencer(protocol(), owner, { down: true, startedAt: 1n });
  await expectRevert(buy(), "SEQUENCER_DOWN");
  for (const address of [coverRouter, shield])
    await act.changeImmutable(protocol(), address, [pad(sequencerFeed), zeroHash]);
  const read = { abi: coverRouterAbi, address: coverRouter } as const;
  expect([
    await protocol().client.readContract({ ...read, functionName: "sequencerFeed" }),
    await protocol().client.readContract({ ...read, functionName: "isSequencerActive" }),
    await protocol().client.readContract({
      ...{ abi: flashShieldAbi, address: shield, functionName: "oracleEvaluable" },
    }),
  ]).toEqual([zeroAddress, true, true]);
  const { usdAmount } = await act.trigger(protocol(), owner, btc1h, await buy());
  expect(usdAmount).toBe(800n);
});

test("a second product on the same adapter shares its count", async () => {
  const { adapter } = await act.coverOf(protocol(), btc1h, await buy());
  const productId = productIdOf("TWIN");
  await act.registerProduct(protocol(), owner, productId, adapter);
  await configure("TWIN", {});
  expect(await buy({ ...btc1h, productId })).toBe(2n);
});
