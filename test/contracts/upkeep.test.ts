/** The keeper contract, and the two callers of an adapter. */
import { encodeAbiParameters, encodeFunctionData, type Hex, parseEventLogs, toHex } from "viem";
import { describe, expect, test } from "vitest";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { observed, outcomesOf } from "./evaluation.ts";
import { alice, DAY, expectRevert, owner, relayer, stranger, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const [btc1h, btc24] = [termsOf("FLASHBTC1H-001"), termsOf("FLASHBTC24-001")];
const LIMIT = 56_400_00000000n;

const keeper = () => {
  const { shieldKeeper } = protocol().deployment.contracts;
  if (!shieldKeeper) throw new Error("the deployment has no keeper contract");
  return shieldKeeper;
};
async function buy(count: number, product: act.ProductRef = btc24): Promise<bigint[]> {
  const policyIds: bigint[] = [];
  for (let i = 0; i < count; i++)
    policyIds.push((await act.purchase(protocol(), alice, product, 1_000n * USDC)).policyId);
  return policyIds;
}
/** Lets the dwell of the newest policies pass, with a round at the barrier. */
async function fall() {
  await act.timeTravel(protocol(), 300n);
  await act.pushPrice(protocol(), owner, "BTC", LIMIT);
}
const countOf = async (policyId: bigint) => (await act.coverOf(protocol(), btc24, policyId)).count;
const setPaused = (account: typeof owner, paused: boolean) =>
  act.send(
    protocol(),
    account,
    keeper(),
    encodeFunctionData({ abi: shieldKeeperAbi, functionName: "setPaused", args: [paused] }),
  );
const checkUpkeep = (checkData: Hex = "0x") =>
  protocol().client.readContract({
    abi: shieldKeeperAbi,
    address: keeper(),
    functionName: "checkUpkeep",
    args: [checkData],
  });
const upkeepOf = (productId: Hex, policyIds: readonly bigint[]) =>
  encodeAbiParameters([{ type: "bytes32" }, { type: "uint256[]" }], [productId, policyIds]);

describe("performUpkeep", () => {
  test("evaluates the first ten ids and ignores the others; a failed one stops none", async () => {
    const ids = await buy(11);
    await fall();
    const failing = [99n, ...ids];
    const receipt = await act.observe(protocol(), stranger, btc24, failing);
    expect(outcomesOf(receipt)).toEqual(["POLICY_NOT_FOUND", ...Array(9).fill("ACCRUING")]);
    expect(await Promise.all(ids.map(countOf))).toEqual([...Array(9).fill(1), 0, 0]);
    const settled = parseEventLogs({ abi: shieldKeeperAbi, logs: receipt.logs, eventName: "PolicySettled" });
    const { adapter } = await act.coverOf(protocol(), btc24, 1n);
    expect(settled.map(({ args }) => args)).toEqual(
      ids.slice(0, 9).map((policyId) => ({ productId: btc24.productId, policyId, shield: adapter })),
    );
  });

  test("does nothing without ids, and reverts for a product without adapter and for bad encoding", async () => {
    expect((await act.observe(protocol(), stranger, btc24, [])).logs).toEqual([]);
    const productId = toHex("no such product", { size: 32 });
    await expectRevert(act.observe(protocol(), stranger, { productId }, [1n]), "Invalid product");
    const bad = encodeFunctionData({ abi: shieldKeeperAbi, functionName: "performUpkeep", args: ["0x01"] });
    await expectRevert(act.send(protocol(), stranger, keeper(), bad), "reverted without a reason");
  });

  test("reverts while the owner has paused the keeper, and adapters' relayers still settle", async () => {
    const [policyId = 0n] = await buy(1);
    await fall();
    expect(act.onlyEvent(await setPaused(owner, true), shieldKeeperAbi, "KeeperPaused").args).toEqual({
      by: owner.address,
    });
    await expectRevert(act.observe(protocol(), stranger, btc24, [policyId]), "KeeperPausedError");
    expect(await checkUpkeep()).toEqual([false, "0x"]);
    const { adapter } = await act.coverOf(protocol(), btc24, policyId);
    await act.setAdapterRelayer(protocol(), owner, adapter, relayer.address);
    await act.checkAndSettle(protocol(), relayer, adapter, policyId);
    expect(await countOf(policyId)).toBe(1);
    expect(act.onlyEvent(await setPaused(owner, false), shieldKeeperAbi, "KeeperUnpaused").args).toEqual({
      by: owner.address,
    });
    await expectRevert(setPaused(stranger, true), `OwnableUnauthorizedAccount(${stranger.address})`);
  });

  test("succeeds with the gas of an estimate, which is too little: the id fails without a reason, and nothing is observed", async () => {
    const [policyId = 0n] = await buy(1);
    await fall();
    const gas = await protocol().client.estimateContractGas({
      abi: shieldKeeperAbi,
      address: keeper(),
      functionName: "performUpkeep",
      args: [upkeepOf(btc24.productId, [policyId])],
      account: stranger.address,
    });
    const receipt = await act.observe(protocol(), stranger, btc24, [policyId], gas);
    expect(act.onlyEvent(receipt, shieldKeeperAbi, "SettlementFailed").args).toEqual({
      ...{ productId: btc24.productId, policyId, reason: "0x" },
    });
    expect(await countOf(policyId)).toBe(0);
    expect(await observed(protocol(), btc24, policyId)).toBe("ACCRUING");
  });
});

describe("checkUpkeep", () => {
  test("names the ten lowest open ids of a product, or of the first product that has any", async () => {
    expect(await checkUpkeep()).toEqual([false, "0x"]);
    const ids = await buy(12);
    await act.trigger(protocol(), stranger, btc24, 2n);
    const lowest = ids.filter((id) => id !== 2n).slice(0, 10);
    const expected = [true, upkeepOf(btc24.productId, lowest)];
    expect(await checkUpkeep()).toEqual(expected);
    await buy(1, btc1h);
    expect(await checkUpkeep()).toEqual([true, upkeepOf(btc1h.productId, [1n])]);
    expect(await checkUpkeep(btc24.productId)).toEqual(expected);
    expect(await checkUpkeep(termsOf("FLASHETH1H-001").productId)).toEqual([false, "0x"]);
  });
});

describe("checkAndSettlePolicy", () => {
  test("is called by the adapter's keeper and relayer only", async () => {
    const [policyId = 0n] = await buy(1);
    const { adapter } = await act.coverOf(protocol(), btc24, policyId);
    for (const account of [owner, stranger, relayer])
      await expectRevert(
        act.checkAndSettle(protocol(), account, adapter, policyId),
        "ONLY_KEEPER_OR_RELAYER",
      );
    await expectRevert(
      act.setAdapterRelayer(protocol(), stranger, adapter, stranger.address),
      `OwnableUnauthorizedAccount(${stranger.address})`,
    );
  });

  test("gives the relayer the adapter's reasons, and can observe, pay and expire", async () => {
    const [paid = 0n, expired = 0n] = await buy(2);
    const { adapter } = await act.coverOf(protocol(), btc24, paid);
    await act.setAdapterRelayer(protocol(), owner, adapter, relayer.address);
    const settle = (policyId: bigint) => act.checkAndSettle(protocol(), relayer, adapter, policyId);
    await expectRevert(settle(9n), "POLICY_NOT_FOUND");
    await expectRevert(settle(paid), "NOT_SETTLEABLE_YET");
    await act.observeTwice(protocol(), stranger, btc24, paid);
    expect(outcomesOf(await settle(paid))).toEqual(["TRIGGER_DROP"]);
    await expectRevert(settle(paid), "ALREADY_FINALIZED");
    await act.timeTravel(protocol(), DAY - 300n);
    expect(outcomesOf(await settle(expired))).toEqual(["WINDOW_EXPIRED"]);
  });
});
