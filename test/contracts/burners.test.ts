/** The burner of premiums and fees, and burns without it. */
import { encodeFunctionData, erc20Abi, zeroAddress } from "viem";
import { describe, expect, test } from "vitest";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { namesOf } from "./log-order.ts";
import { readsOf } from "./reads.ts";
import { alice, bob, expectRevert, owner, stranger, TOKEN, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const { usdcOf } = readsOf(protocol);

const burner = () => protocol().deployment.contracts.twapBurner;
const supply = () =>
  protocol().client.readContract({
    abi: erc20Abi,
    address: protocol().deployment.contracts.protocolToken,
    functionName: "totalSupply",
  });
const read = (functionName: "pendingUSDC" | "canBurn" | "burnCooldown" | "minBurnAmount" | "maxBurnAmount") =>
  protocol().client.readContract({ abi: twapBurnerAbi, address: burner(), functionName });

/** Mints USDC to the burner as its income. */
const give = (amount: bigint) => act.mintUsdc(protocol(), owner, burner(), amount);
const burn = (account = stranger) => act.executeBurn(protocol(), account);

test("there are 100 million tokens with 18 decimals", async () => {
  expect(await supply()).toBe(100_000_000n * TOKEN);
});

describe("a burn", () => {
  test("by anybody spends the waiting USDC at the token's price, and burns what it buys", async () => {
    await give(400n * USDC);
    expect(await read("pendingUSDC")).toBe(400n * USDC);
    await act.setTokenPrice(protocol(), owner, "0.2");
    const [treasury, tokens] = [await usdcOf(owner.address), await supply()];
    const { tokenBurned, effectivePrice, receipt } = await burn();
    // The price has 6 decimals: 0.20 USDC.
    expect([tokenBurned, effectivePrice]).toEqual([2_000n * TOKEN, 200_000n]);
    expect(tokens - (await supply())).toBe(tokenBurned);
    expect((await usdcOf(owner.address)) - treasury).toBe(400n * USDC);
    expect(await read("pendingUSDC")).toBe(0n);
    expect(namesOf(receipt)).toEqual([
      ...["Approval", "Transfer", "Transfer", "BurnExecuted", "LegacyBurnExecuted"],
    ]);
    expect(act.onlyEvent(receipt, twapBurnerAbi, "BurnExecuted").args).toMatchObject({
      usdcSpent: 400n * USDC,
      timestamp: await act.chainTime(protocol()),
    });
    expect(act.onlyEvent(receipt, twapBurnerAbi, "LegacyBurnExecuted").args).toEqual({
      usdcSpent: 400n * USDC,
    });
  });

  test("spends a maximum, needs a minimum, and waits for the cooldown", async () => {
    expect([await read("burnCooldown"), await read("minBurnAmount"), await read("maxBurnAmount")]).toEqual([
      ...[900n, USDC, 10_000n * USDC],
    ]);
    await give(USDC - 1n);
    expect(await read("canBurn")).toBe(false);
    await expectRevert(burn(), "Below minimum");
    await give(12_000n * USDC);
    expect(await read("canBurn")).toBe(true);
    expect((await burn()).usdcSpent).toBe(10_000n * USDC);
    const last = await act.chainTime(protocol());
    expect(await read("canBurn")).toBe(false);
    await act.nextBlockAt(protocol(), last + 899n);
    await expectRevert(burn(), "Cooldown active");
    await act.nextBlockAt(protocol(), last + 900n);
    expect((await burn()).usdcSpent).toBe(2_001n * USDC - 1n);
  });

  test("in the adaptive mode burns 85 % and sends the rest to those reserves that are set", async () => {
    const [buyback, ops] = [bob.address, alice.address];
    await act.setAdaptiveMode(protocol(), owner, true, [buyback, ops, zeroAddress]);
    await give(1_000n * USDC + 33n);
    const balances = await Promise.all([usdcOf(buyback), usdcOf(ops)]);
    const { usdcSpent, receipt } = await burn();
    expect(usdcSpent).toBe(850_000_028n);
    expect(namesOf(receipt)).toEqual([
      ...["Transfer", "Transfer", "Approval", "Transfer", "Transfer"],
      ...["BurnExecuted", "AdaptiveDistributionExecuted"],
    ]);
    // Each share is rounded down, and the one without a reserve stays.
    expect(act.onlyEvent(receipt, twapBurnerAbi, "AdaptiveDistributionExecuted").args).toEqual({
      total: 1_000_000_033n,
      burned: 850_000_028n,
      toBuyback: 80_000_002n,
      toOps: 20_000_000n,
      toMaintenance: 50_000_001n,
    });
    expect((await usdcOf(buyback)) - (balances[0] ?? 0n)).toBe(80_000_002n);
    expect((await usdcOf(ops)) - (balances[1] ?? 0n)).toBe(20_000_000n);
    expect(await read("pendingUSDC")).toBe(50_000_003n);
  });

  test("burns at most the tokens that the burner holds", async () => {
    await act.setTokenPrice(protocol(), owner, "0.0009");
    await give(10_000n * USDC);
    await expectRevert(
      burn(),
      `ERC20InsufficientBalance(${burner()}, ${10_000_000n * TOKEN}, ${(10_000n * TOKEN * 100_000n) / 90n})`,
    );
  });

  test("needs a price", async () => {
    await give(10n * USDC);
    await act.setPriceStale(protocol(), owner, true);
    await expectRevert(burn(), "OracleStale(3601, 3600)");
  });
});

test("the owner alone sets the limits", async () => {
  const set = (account: typeof owner) =>
    act.send(
      protocol(),
      account,
      burner(),
      encodeFunctionData({ abi: twapBurnerAbi, functionName: "setBurnCooldown", args: [60n] }),
    );
  expect(act.onlyEvent(await set(owner), twapBurnerAbi, "ConfigUpdated").args).toEqual({
    ...{ name: "burnCooldown", value: 60n },
  });
  expect(await read("burnCooldown")).toBe(60n);
  await expectRevert(set(alice), `OwnableUnauthorizedAccount(${alice.address})`);
});

test("premiums reach the burner through the router, which has no allowance left and keeps nothing", async () => {
  const { premium, receipt } = await act.purchase(
    protocol(),
    alice,
    termsOf("FLASHBTC24-001"),
    1_000n * USDC,
  );
  const { coverRouter, usdc } = protocol().deployment.contracts;
  expect(await usdcOf(burner())).toBe(premium);
  expect(await usdcOf(coverRouter)).toBe(0n);
  const allowance = await protocol().client.readContract({
    abi: erc20Abi,
    address: usdc,
    functionName: "allowance",
    args: [coverRouter, burner()],
  });
  expect(allowance).toBe(0n);
  expect(namesOf(receipt).slice(0, 4)).toEqual(["Transfer", "Approval", "Transfer", "PremiumReceived"]);
  expect(namesOf(receipt).at(-1)).toBe("PolicyPurchased");
  expect(act.onlyEvent(receipt, twapBurnerAbi, "PremiumReceived").args).toEqual({
    from: coverRouter,
    amount: premium,
  });
});

test("anybody may pay in, with an allowance", async () => {
  await expectRevert(payIn(alice, USDC), `ERC20InsufficientAllowance(${burner()}, 0, ${USDC})`);
  await act.approveUsdc(protocol(), alice, burner());
  expect(act.onlyEvent(await payIn(alice, USDC), twapBurnerAbi, "PremiumReceived").args).toEqual({
    from: alice.address,
    amount: USDC,
  });
});

const payIn = (account: typeof alice, amount: bigint) =>
  act.send(
    protocol(),
    account,
    burner(),
    encodeFunctionData({ abi: twapBurnerAbi, functionName: "receivePremium", args: [amount] }),
  );

test("a holder burns tokens by a transfer to the zero address", async () => {
  const before = await supply();
  await act.burnTokens(protocol(), owner, 5n * TOKEN);
  expect(before - (await supply())).toBe(5n * TOKEN);
});
