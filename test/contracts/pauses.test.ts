/** Pauses by the owner and by the token's price, and the global pause: of sales alone. */
import { toFunctionSelector } from "viem";
import { describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../abis/GlobalPauseRegistry.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { alice, expectRevert, owner, stranger, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const btc1h = termsOf("FLASHBTC1H-001");
const buy = () => act.purchase(protocol(), alice, btc1h, 100n * USDC);
const readRouter = (functionName: "paused" | "isProtocolAutoPaused" | "autoPausedOnce") =>
  protocol().client.readContract({
    abi: coverRouterAbi,
    address: protocol().deployment.contracts.coverRouter,
    functionName,
  });
const paused = () => readRouter("paused");
const autoPaused = () => readRouter("isProtocolAutoPaused");
const setPrice = (dollars: string) => act.setTokenPrice(protocol(), owner, dollars);
const sync = () => act.syncCircuitBreaker(protocol(), stranger);
const AUTO_PAUSED = "Protocol auto-paused: LUMINA price below safety threshold";

describe("the automatic pause", () => {
  test("stops sales below 0.005 USD without a transaction, and leaves the owner's switch", async () => {
    await setPrice("0.005");
    expect(await autoPaused()).toBe(false);
    expect((await buy()).policyId).toBe(1n);
    await setPrice("0.004999999999999999");
    expect([await autoPaused(), await paused(), await readRouter("autoPausedOnce")]).toEqual([
      ...[true, false, false],
    ]);
    await expectRevert(buy(), AUTO_PAUSED);
    await setPrice("0.005");
    expect((await buy()).policyId).toBe(2n);
  });

  test("lasts until 0.008 USD once it is stored, and emits an event for each change only", async () => {
    expect((await sync()).logs).toEqual([]);
    await setPrice("0.004");
    const down = await sync();
    expect(act.onlyEvent(down, coverRouterAbi, "AutoPauseActivated").args.priceWei).toBe(4n * 10n ** 15n);
    expect(await readRouter("autoPausedOnce")).toBe(true);
    await setPrice("0.007999999999999999");
    expect((await sync()).logs).toEqual([]);
    expect(await autoPaused()).toBe(true);
    await expectRevert(buy(), AUTO_PAUSED);
    await setPrice("0.008");
    expect(await autoPaused()).toBe(false);
    expect((await buy()).policyId).toBe(1n);
    const up = await sync();
    expect(act.onlyEvent(up, coverRouterAbi, "AutoPauseDeactivated").args.priceWei).toBe(8n * 10n ** 15n);
    expect(await readRouter("autoPausedOnce")).toBe(false);
  });

  test("reverts with the price oracle's error while there is no price", async () => {
    await act.setPriceStale(protocol(), owner, true);
    await expect(autoPaused()).rejects.toThrow(toFunctionSelector("OracleStale(uint256,uint256)"));
    await expectRevert(sync(), "OracleStale(3601, 3600)");
    expect(await paused()).toBe(false);
  });
});

test("the owner's pause and the global one emit events", async () => {
  const router = await act.setRouterPaused(protocol(), owner, true);
  expect(act.onlyEvent(router, coverRouterAbi, "Paused").args.state).toBe(true);
  const everything = await act.setGlobalPause(protocol(), owner, true);
  expect(act.onlyEvent(everything, globalPauseRegistryAbi, "GlobalPauseToggled").args).toEqual({
    paused: true,
    by: owner.address,
    timestamp: await act.chainTime(protocol()),
  });
});

test("only the owner sets pauses, products and relayers", async () => {
  const refusal = `OwnableUnauthorizedAccount(${alice.address})`;
  const config = await act.productConfigOf(protocol(), btc1h.productId);
  await expectRevert(act.setRouterPaused(protocol(), alice, true), refusal);
  await expectRevert(act.setGlobalPause(protocol(), alice, true), refusal);
  await expectRevert(act.setRelayer(protocol(), alice, alice.address, true), refusal);
  await expectRevert(act.configureProduct(protocol(), alice, config), refusal);
  await expectRevert(act.deactivateProduct(protocol(), alice, btc1h.productId), refusal);
  await expectRevert(act.removeProduct(protocol(), alice, btc1h.productId), refusal);
  await expectRevert(act.registerProduct(protocol(), alice, btc1h.productId, alice.address), refusal);
});
