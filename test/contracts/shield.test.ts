/** Reverts of a shield, under any configuration of the router. */
import { encodeFunctionData } from "viem";
import { test } from "vitest";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { productIdOf } from "../../lib/products.ts";
import * as act from "../../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { alice, DAY, expectRevert, HOUR, owner, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const btc1h = termsOf("FLASHBTC1H-001");
const buy = async (product: act.ProductRef = btc1h) =>
  (await act.purchase(protocol(), alice, product, 1_000n * USDC)).policyId;

test("NOT_ROUTER for every caller except the router, at the adapter and at the shield", async () => {
  const { shield: adapter } = await act.productConfigOf(protocol(), btc1h.productId);
  const shield = await protocol().client.readContract({
    abi: shieldAdapterAbi,
    address: adapter,
    functionName: "shield",
  });
  const open = encodeFunctionData({
    abi: flashShieldAbi,
    functionName: "openPolicy",
    args: [1n, btc1h.asset, 0n, 0n, HOUR],
  });
  const evaluate = encodeFunctionData({
    abi: flashShieldAbi,
    functionName: "evaluateTrigger",
    args: [1n, "0x"],
  });
  for (const to of [adapter, shield])
    for (const data of [open, evaluate])
      await expectRevert(act.send(protocol(), owner, to, data), "NOT_ROUTER");
});

test("POLICY_EXISTS for a second product on the same adapter", async () => {
  await buy();
  const config = await act.productConfigOf(protocol(), btc1h.productId);
  const productId = productIdOf("TWIN");
  await act.registerProduct(protocol(), owner, productId, config.shield);
  await act.configureProduct(protocol(), owner, "TWIN", config);
  await expectRevert(buy({ ...btc1h, productId }), "POLICY_EXISTS");
});

test("INVALID_WINDOW for cover that would start at its end", async () => {
  const config = await act.productConfigOf(protocol(), btc1h.productId);
  const waitingSeconds = config.durationSeconds;
  await act.configureProduct(protocol(), owner, btc1h.name, { ...config, waitingSeconds });
  await expectRevert(buy(), "INVALID_WINDOW");
});

test("WINDOW_MISMATCH for a window of another length", async () => {
  const config = await act.productConfigOf(protocol(), btc1h.productId);
  const durationSeconds = Number(DAY);
  await act.configureProduct(protocol(), owner, btc1h.name, { ...config, durationSeconds });
  await expectRevert(buy(), "WINDOW_MISMATCH");
});
