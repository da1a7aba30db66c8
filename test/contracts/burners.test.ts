/** The two burners, and burns without them. */
import { encodeFunctionData, erc20Abi } from "viem";
import { describe, expect, test } from "vitest";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { readsOf } from "./reads.ts";
import { alice, expectRevert, owner, stranger, TOKEN, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const { usdcOf } = readsOf(protocol);
const kinds = ["twapBurner", "buybackEngine"] as const;

const addressOf = (kind: act.BurnerKind) => protocol().deployment.contracts[kind];
const supply = () =>
  protocol().client.readContract({
    abi: erc20Abi,
    address: protocol().deployment.contracts.protocolToken,
    functionName: "totalSupply",
  });

/** Mints USDC to a burner as its income. */
const give = (kind: act.BurnerKind, amount: bigint) =>
  act.mintUsdc(protocol(), owner, addressOf(kind), amount);

test("there are 100 million tokens with 18 decimals", async () => {
  expect(await supply()).toBe(100_000_000n * TOKEN);
});

describe.each(kinds)("%s", (kind) => {
  test("spends income at the feed's price, burns what it buys, and pays the treasury", async () => {
    await give(kind, 1_000n * USDC);
    await act.pushPrice(protocol(), owner, "token", 20_000_000n);
    const [treasury, tokens] = [await usdcOf(owner.address), await supply()];
    const { tokenBurned, effectivePrice, receipt } = await act.executeBurn(
      protocol(),
      owner,
      kind,
      400n * USDC,
    );
    expect([tokenBurned, effectivePrice]).toEqual([2_000n * TOKEN, 2n * 10n ** 17n]);
    expect(tokens - (await supply())).toBe(tokenBurned);
    expect((await usdcOf(owner.address)) - treasury).toBe(400n * USDC);
    expect(await usdcOf(addressOf(kind))).toBe(600n * USDC);
    expect(act.onlyEvent(receipt, twapBurnerAbi, "BurnExecuted").args).toMatchObject({
      usdcSpent: 400n * USDC,
      timestamp: await act.chainTime(protocol()),
    });
  });

  test("lets only its owner and its keepers burn", async () => {
    await give(kind, 10n * USDC);
    await expectRevert(act.executeBurn(protocol(), stranger, kind, USDC), `NotKeeper(${stranger.address})`);
    const setKeeper = (authorized: boolean) =>
      act.send(
        protocol(),
        owner,
        addressOf(kind),
        encodeFunctionData({
          abi: twapBurnerAbi,
          functionName: "setKeeper",
          args: [stranger.address, authorized],
        }),
      );
    await setKeeper(true);
    expect((await act.executeBurn(protocol(), stranger, kind, USDC)).tokenBurned).toBe(10n * TOKEN);
    await setKeeper(false);
    await expectRevert(act.executeBurn(protocol(), stranger, kind, USDC), `NotKeeper(${stranger.address})`);
  });

  test("spends at most its income, burns at most its tokens, and rejects zero", async () => {
    const burner = addressOf(kind);
    await expectRevert(
      act.executeBurn(protocol(), owner, kind, USDC),
      `ERC20InsufficientBalance(${burner}, 0, 1000000)`,
    );
    await expectRevert(act.executeBurn(protocol(), owner, kind, 0n), "ZeroBurn");
    await give(kind, 1_000_001n * USDC);
    await expectRevert(
      act.executeBurn(protocol(), owner, kind, 1_000_001n * USDC),
      `ERC20InsufficientBalance(${burner}, ${10_000_000n * TOKEN}, ${10_000_010n * TOKEN})`,
    );
  });

  test("needs a fresh price above zero", async () => {
    await give(kind, 10n * USDC);
    await act.timeTravel(protocol(), 2n * 3_600n);
    await expectRevert(act.executeBurn(protocol(), owner, kind, USDC), "ORACLE_STALE");
    await act.pushPrice(protocol(), owner, "token", 0n);
    await expectRevert(act.executeBurn(protocol(), owner, kind, USDC), "ORACLE_INVALID");
  });
});

test("premiums reach the TWAP burner, and only the router may report one", async () => {
  const { premium } = await act.purchase(protocol(), alice, termsOf("FLASHBTC24-001"), 1_000n * USDC);
  expect(await usdcOf(addressOf("twapBurner"))).toBe(premium);
  const data = encodeFunctionData({
    abi: twapBurnerAbi,
    functionName: "notePremium",
    args: [alice.address, 1n],
  });
  await expectRevert(
    act.send(protocol(), alice, addressOf("twapBurner"), data),
    `NotSource(${alice.address})`,
  );
});

test("a holder burns tokens by a transfer to the zero address", async () => {
  const before = await supply();
  await act.burnTokens(protocol(), owner, 5n * TOKEN);
  expect(before - (await supply())).toBe(5n * TOKEN);
});
