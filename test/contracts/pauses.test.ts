/** Pauses: by the owner, for the token's price, and of everything. */
import { describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../abis/GlobalPauseRegistry.ts";
import * as act from "../../scripts/local/protocol/actions/index.ts";
import { alice, expectRevert, HOUR, owner, stranger, termsOf, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const btc1h = termsOf("FLASHBTC1H-001");
const buy = () => act.purchase(protocol(), alice, btc1h, 100n * USDC);
const paused = () =>
  protocol().client.readContract({
    abi: coverRouterAbi,
    address: protocol().deployment.contracts.coverRouter,
    functionName: "paused",
  });
/** 0.05 USD. */
const MINIMUM = 5n * 10n ** 16n;

describe("the automatic pause", () => {
  test("sets in below the minimum price, and ends at it", async () => {
    await act.setMinimumTokenPrice(protocol(), owner, MINIMUM);
    await act.pushPrice(protocol(), owner, "token", 4_999_999n);
    const down = await act.checkAutoPause(protocol(), stranger);
    expect(act.onlyEvent(down, coverRouterAbi, "AutoPauseActivated").args.priceWei).toBe(
      MINIMUM - 10n ** 10n,
    );
    expect(await paused()).toBe(true);
    await expectRevert(buy(), "ContractPaused");
    expect((await act.checkAutoPause(protocol(), stranger)).logs).toEqual([]);
    await act.pushPrice(protocol(), owner, "token", 5_000_000n);
    const up = await act.checkAutoPause(protocol(), stranger);
    expect(act.onlyEvent(up, coverRouterAbi, "AutoPauseDeactivated").args.priceWei).toBe(MINIMUM);
    expect(await paused()).toBe(false);
    expect((await buy()).policyId).toBe(1n);
  });

  test("leaves the owner's pause alone, and is left alone by it", async () => {
    await act.setRouterPaused(protocol(), owner, true);
    await act.checkAutoPause(protocol(), stranger);
    expect(await paused()).toBe(true);
    await act.setMinimumTokenPrice(protocol(), owner, 10n ** 18n);
    await act.checkAutoPause(protocol(), stranger);
    await act.setRouterPaused(protocol(), owner, false);
    expect(await paused()).toBe(true);
  });

  test("decides nothing on a stale price", async () => {
    await act.setMinimumTokenPrice(protocol(), owner, 10n ** 18n);
    await act.timeTravel(protocol(), HOUR + 60n);
    await expectRevert(act.checkAutoPause(protocol(), stranger), "ORACLE_STALE");
    expect(await paused()).toBe(false);
  });
});

test("the owner's pause and the global one tell of themselves", async () => {
  const router = await act.setRouterPaused(protocol(), owner, true);
  expect(act.onlyEvent(router, coverRouterAbi, "Paused").args.state).toBe(true);
  const everything = await act.setGlobalPause(protocol(), owner, true);
  expect(act.onlyEvent(everything, globalPauseRegistryAbi, "GlobalPauseToggled").args).toEqual({
    paused: true,
    by: owner.address,
    timestamp: await act.chainTime(protocol()),
  });
});

test("nobody but the owner pauses, prices or admits", async () => {
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
