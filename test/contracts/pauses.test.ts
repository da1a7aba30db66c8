/** Pauses by the owner and by the token's price, and the global pause. */
import { describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../abis/GlobalPauseRegistry.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { alice, expectRevert, owner, stranger, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const btc1h = termsOf("FLASHBTC1H-001");
const buy = () => act.purchase(protocol(), alice, btc1h, 100n * USDC);
const readRouter = (functionName: "paused" | "isProtocolAutoPaused") =>
  protocol().client.readContract({
    abi: coverRouterAbi,
    address: protocol().deployment.contracts.coverRouter,
    functionName,
  });
const paused = () => readRouter("paused");
const autoPaused = () => readRouter("isProtocolAutoPaused");
/** 0.05 USD. */
const MINIMUM = 5n * 10n ** 16n;

describe("the automatic pause", () => {
  test("starts below the minimum price and ends at it", async () => {
    await act.setMinimumTokenPrice(protocol(), owner, MINIMUM);
    await act.setTokenPrice(protocol(), owner, "0.04999999");
    const down = await act.checkAutoPause(protocol(), stranger);
    expect(act.onlyEvent(down, coverRouterAbi, "AutoPauseActivated").args.priceWei).toBe(
      MINIMUM - 10n ** 10n,
    );
    expect(await paused()).toBe(true);
    await expectRevert(buy(), "ContractPaused");
    expect((await act.checkAutoPause(protocol(), stranger)).logs).toEqual([]);
    await act.setTokenPrice(protocol(), owner, "0.05");
    const up = await act.checkAutoPause(protocol(), stranger);
    expect(act.onlyEvent(up, coverRouterAbi, "AutoPauseDeactivated").args.priceWei).toBe(MINIMUM);
    expect(await paused()).toBe(false);
    expect((await buy()).policyId).toBe(1n);
  });

  test("is independent of the owner's pause", async () => {
    await act.setRouterPaused(protocol(), owner, true);
    await act.checkAutoPause(protocol(), stranger);
    expect([await paused(), await autoPaused()]).toEqual([true, false]);
    await act.setMinimumTokenPrice(protocol(), owner, 10n ** 18n);
    await act.checkAutoPause(protocol(), stranger);
    await act.setRouterPaused(protocol(), owner, false);
    expect([await paused(), await autoPaused()]).toEqual([true, true]);
  });

  test("ignores a stale price", async () => {
    await act.setMinimumTokenPrice(protocol(), owner, 10n ** 18n);
    await act.setPriceStale(protocol(), owner, true);
    await expectRevert(act.checkAutoPause(protocol(), stranger), "OracleStale(3601, 3600)");
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

test("only the owner sets pauses, the minimum price and relayers", async () => {
  const refusal = `OwnableUnauthorizedAccount(${alice.address})`;
  await expectRevert(act.setRouterPaused(protocol(), alice, true), refusal);
  await expectRevert(act.setGlobalPause(protocol(), alice, true), refusal);
  await expectRevert(act.setProductPaused(protocol(), alice, btc1h.productId, true), refusal);
  await expectRevert(act.setRelayer(protocol(), alice, alice.address, true), refusal);
  await expectRevert(act.setMinimumTokenPrice(protocol(), alice, 0n), refusal);
  await expectRevert(act.deactivateProduct(protocol(), alice, btc1h.productId), refusal);
  await expectRevert(act.removeProduct(protocol(), alice, btc1h.productId), refusal);
  await expectRevert(act.registerProduct(protocol(), alice, btc1h.productId, alice.address), refusal);
});
