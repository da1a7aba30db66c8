/** What a shield refuses, whatever the router's configuration asks of it. */
import { encodeFunctionData } from "viem";
import { test } from "vitest";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { productIdOf } from "../../lib/products.ts";
import * as act from "../../scripts/local/protocol/actions/index.ts";
import { alice, DAY, expectRevert, HOUR, owner, termsOf, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const btc1h = termsOf("FLASHBTC1H-001");
const buy = async (product: act.ProductRef = btc1h) =>
  (await act.purchase(protocol(), alice, product, 1_000n * USDC)).policyId;

test("NOT_ROUTER: everybody but the router, at the adapter and behind it", async () => {
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

test("POLICY_EXISTS: a second product on the same adapter", async () => {
  await buy();
  const config = await act.productConfigOf(protocol(), btc1h.productId);
  const productId = productIdOf("TWIN");
  await act.registerProduct(protocol(), owner, productId, config.shield);
  await act.configureProduct(protocol(), owner, "TWIN", config);
  await expectRevert(buy({ ...btc1h, productId }), "POLICY_EXISTS");
});

test("INVALID_WINDOW: cover that would begin when it ends", async () => {
  const config = await act.productConfigOf(protocol(), btc1h.productId);
  const waitingSeconds = config.durationSeconds;
  await act.configureProduct(protocol(), owner, btc1h.name, { ...config, waitingSeconds });
  await expectRevert(buy(), "INVALID_WINDOW");
});

test("WINDOW_MISMATCH: a window of another length than its own", async () => {
  const config = await act.productConfigOf(protocol(), btc1h.productId);
  const durationSeconds = Number(DAY);
  await act.configureProduct(protocol(), owner, btc1h.name, { ...config, durationSeconds });
  await expectRevert(buy(), "WINDOW_MISMATCH");
});
