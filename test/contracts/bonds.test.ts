/** Bonds: epoch and maturity, transfers, and the reserve that backs them. */
import { type Address, encodeFunctionData, erc20Abi, parseEther, parseEventLogs } from "viem";
import { describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { protocolTokenAbi } from "../../abis/ProtocolToken.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { namesOf } from "./log-order.ts";
import { readsOf } from "./reads.ts";
import { alice, bob, DAY, expectRevert, owner, stranger, USDC, useProtocol } from "./support.ts";

const protocol = useProtocol();
const { bondsOf, vault } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");
const TWO_YEARS = 730n * DAY;

/** Triggers a policy that pays `account` this amount of bonds, in dollars. */
async function bondsFor(account: typeof alice, dollars: bigint) {
  const { policyId } = await act.purchase(protocol(), account, btc1h, (dollars * USDC * 10n) / 8n);
  return act.trigger(protocol(), stranger, btc1h, policyId);
}

const epochInfo = (epochId: bigint) =>
  protocol().client.readContract({
    abi: claimBondAbi,
    address: protocol().deployment.contracts.claimBond,
    functionName: "getEpochInfo",
    args: [epochId],
  });

describe("an epoch", () => {
  test("is the month 730 days after the issue, and matures in its last second", async () => {
    const { epochId, receipt } = await bondsFor(alice, 800n);
    const { timestamp } = await protocol().client.getBlock({ blockNumber: receipt.blockNumber });
    const due = new Date(Number(timestamp + TWO_YEARS) * 1000);
    expect(epochId).toBe(BigInt(due.getUTCFullYear() * 100 + due.getUTCMonth() + 1));
    const end = BigInt(Date.UTC(due.getUTCFullYear(), due.getUTCMonth() + 1, 1) / 1000) - 1n;
    expect(await act.maturityDate(protocol(), epochId)).toBe(end);
    expect(end >= timestamp + TWO_YEARS).toBe(true);
    expect(act.onlyEvent(receipt, claimBondAbi, "EpochCreated").args).toEqual({ epochId, maturityDate: end });
    expect(act.onlyEvent(receipt, claimBondAbi, "BondsMinted").args).toEqual({
      epochId,
      to: alice.address,
      usdAmount: 800n,
    });
    expect(act.onlyEvent(receipt, bondVaultAbi, "ReservationCommitted").args).toEqual({
      amount: parseEther("800"),
      newTotalReserved: 0n,
    });
  });

  test("tells its maturity and the bonds in circulation", async () => {
    expect(await epochInfo(203_001n)).toEqual([false, 0n, 0n, false]);
    const { epochId } = await bondsFor(alice, 800n);
    await act.surrenderBonds(protocol(), alice, epochId, 300n);
    const maturity = await act.maturityDate(protocol(), epochId);
    expect(await epochInfo(epochId)).toEqual([true, maturity, 500n, false]);
    await act.mineAt(protocol(), maturity);
    expect(await epochInfo(epochId)).toEqual([true, maturity, 500n, true]);
  });

  test("has the right month at the ends of months, years and leap years, and is created once", async () => {
    const issueDays = [
      "2030-02-28", // due on 28 February 2032
      "2030-03-01", // on the 29th
      "2030-03-02", // on 1 March
      "2030-12-31",
      "2031-01-01", // on 31 December 2032
      "2031-01-02", // on 1 January 2033
      "2032-02-29",
      "2098-02-28", // 2100 is no leap year
      "2098-03-01",
      "2098-12-31",
    ];
    const seen = new Set<bigint>();
    for (const day of issueDays) {
      await act.mineAt(protocol(), BigInt(Date.parse(`${day}T23:00:00Z`) / 1000));
      await act.refreshFeeds(protocol(), owner);
      const { epochId, receipt } = await bondsFor(alice, 80n);
      const { timestamp } = await protocol().client.getBlock({ blockNumber: receipt.blockNumber });
      const due = new Date(Number(timestamp + TWO_YEARS) * 1000);
      expect(epochId).toBe(BigInt(due.getUTCFullYear() * 100 + due.getUTCMonth() + 1));
      const end = BigInt(Date.UTC(due.getUTCFullYear(), due.getUTCMonth() + 1, 1) / 1000) - 1n;
      expect(await act.maturityDate(protocol(), epochId)).toBe(end);
      const created = parseEventLogs({ abi: claimBondAbi, logs: receipt.logs, eventName: "EpochCreated" });
      expect(created.length).toBe(seen.has(epochId) ? 0 : 1);
      seen.add(epochId);
    }
    expect(seen.size).toBe(8);
  });

  test("a payout is rounded down to whole dollars", async () => {
    const { policyId, payout } = await act.purchase(protocol(), alice, btc1h, 101_249_999n);
    expect(payout).toBe(80_999_999n);
    expect((await act.trigger(protocol(), stranger, btc1h, policyId)).usdAmount).toBe(80n);
    expect(await vault("totalCommittedUSD")).toBe(parseEther("80"));
  });
});

const onlyOperators = "ClaimBond: transfers only via authorized operators";
const authorize = (operator: Address, authorized: boolean) =>
  act.send(
    protocol(),
    owner,
    protocol().deployment.contracts.claimBond,
    encodeFunctionData({
      abi: claimBondAbi,
      functionName: "setAuthorizedOperator",
      args: [operator, authorized],
    }),
  );
const burnByHolder = (sender: typeof alice, holder: Address, epochId: bigint, amount: bigint) =>
  act.send(
    protocol(),
    sender,
    protocol().deployment.contracts.claimBond,
    encodeFunctionData({ abi: claimBondAbi, functionName: "burnByHolder", args: [holder, epochId, amount] }),
  );

describe("bonds", () => {
  test("move only through authorised operators, so a holder cannot transfer them", async () => {
    const { epochId } = await bondsFor(alice, 800n);
    const transfer = encodeFunctionData({
      abi: claimBondAbi,
      functionName: "safeTransferFrom",
      args: [alice.address, bob.address, epochId, 1n, "0x"],
    });
    const { claimBond } = protocol().deployment.contracts;
    await expectRevert(act.send(protocol(), alice, claimBond, transfer), onlyOperators);
    const approve = encodeFunctionData({
      abi: claimBondAbi,
      functionName: "setApprovalForAll",
      args: [bob.address, true],
    });
    await act.send(protocol(), alice, claimBond, approve);
    await expectRevert(act.send(protocol(), bob, claimBond, transfer), onlyOperators);
    // An operator may send on his own bonds, by whomever he has approved.
    const authorized = await authorize(alice.address, true);
    expect(act.onlyEvent(authorized, claimBondAbi, "OperatorAuthorized").args).toEqual({
      operator: alice.address,
      authorized: true,
    });
    await act.send(protocol(), bob, claimBond, transfer);
    expect(await bondsOf(bob.address, epochId)).toBe(1n);
    await authorize(alice.address, false);
    await expectRevert(act.send(protocol(), alice, claimBond, transfer), onlyOperators);
  });

  test("can be surrendered by their holder, which lowers the vault's obligations", async () => {
    const { epochId } = await bondsFor(alice, 800n);
    const before = await vault("availableCapacityUSD");
    const receipt = await act.surrenderBonds(protocol(), alice, epochId, 300n);
    expect(namesOf(receipt)).toEqual(["TransferSingle", "BondsBurnedByHolder", "ObligationsDecreased"]);
    expect(act.onlyEvent(receipt, claimBondAbi, "BondsBurnedByHolder").args).toEqual({
      holder: alice.address,
      epochId,
      amount: 300n,
    });
    expect(act.onlyEvent(receipt, bondVaultAbi, "ObligationsDecreased").args).toMatchObject({
      amount: parseEther("300"),
      newTotal: parseEther("500"),
    });
    expect(await bondsOf(alice.address, epochId)).toBe(500n);
    expect((await vault("availableCapacityUSD")) - before).toBe(300n);
  });

  test("can be surrendered by whom their holder has approved, and by nobody else", async () => {
    const { epochId } = await bondsFor(alice, 800n);
    await expectRevert(
      burnByHolder(bob, alice.address, epochId, 1n),
      `ERC1155MissingApprovalForAll(${bob.address}, ${alice.address})`,
    );
    const approve = encodeFunctionData({
      abi: claimBondAbi,
      functionName: "setApprovalForAll",
      args: [bob.address, true],
    });
    await act.send(protocol(), alice, protocol().deployment.contracts.claimBond, approve);
    await burnByHolder(bob, alice.address, epochId, 1n);
    expect(await bondsOf(alice.address, epochId)).toBe(799n);
  });

  test("are burned without the vault where it does not let the bond contract call it", async () => {
    const { epochId } = await bondsFor(alice, 800n);
    const { claimBond, bondVault } = protocol().deployment.contracts;
    const data = encodeFunctionData({
      abi: bondVaultAbi,
      functionName: "setAuthorizedCaller",
      args: [claimBond, false],
    });
    await act.send(protocol(), owner, bondVault, data);
    const receipt = await act.surrenderBonds(protocol(), alice, epochId, 300n);
    expect(namesOf(receipt)).toEqual(["TransferSingle", "BondsBurnedByHolder", "ObligationsSyncSkipped"]);
    expect(act.onlyEvent(receipt, claimBondAbi, "ObligationsSyncSkipped").args).toEqual({
      ...{ holder: alice.address, epochId, amount: 300n },
    });
    expect(await vault("totalCommittedUSD")).toBe(parseEther("800"));
  });

  test("are minted and burned only by the vault, and only authorised callers lower obligations", async () => {
    const { claimBond, bondVault } = protocol().deployment.contracts;
    const calls = [
      encodeFunctionData({ abi: claimBondAbi, functionName: "mint", args: [owner.address, 1n] }),
      encodeFunctionData({ abi: claimBondAbi, functionName: "burn", args: [owner.address, 203_201n, 1n] }),
    ];
    for (const data of calls)
      await expectRevert(act.send(protocol(), owner, claimBond, data), "Only BondVault");
    const lower = encodeFunctionData({ abi: bondVaultAbi, functionName: "decreaseObligations", args: [1n] });
    await expectRevert(act.send(protocol(), owner, bondVault, lower), "BondVault: caller not authorized");
  });
});

describe("the vault", () => {
  test("accepts reservations and bonds only from the policy manager", async () => {
    const calls = [
      encodeFunctionData({ abi: bondVaultAbi, functionName: "reserveCapacity", args: [1n] }),
      encodeFunctionData({ abi: bondVaultAbi, functionName: "commitReservation", args: [1n] }),
      encodeFunctionData({ abi: bondVaultAbi, functionName: "releaseReservation", args: [1n] }),
      encodeFunctionData({ abi: bondVaultAbi, functionName: "issueBond", args: [owner.address, 1n] }),
    ];
    for (const data of calls)
      await expectRevert(
        act.send(protocol(), owner, protocol().deployment.contracts.bondVault, data),
        "Only PolicyManager",
      );
  });

  test("is behind a policy manager that accepts only the router", async () => {
    const data = encodeFunctionData({
      abi: policyManagerAbi,
      functionName: "triggerPayout",
      args: [btc1h.productId, 1n, "0x"],
    });
    await expectRevert(
      act.send(protocol(), owner, protocol().deployment.contracts.policyManager, data),
      "OnlyRouter",
    );
  });

  test("has what it holds as its reserve, and half of its value as capacity", async () => {
    const { bondVault, protocolToken } = protocol().deployment.contracts;
    await act.purchase(protocol(), alice, btc1h, 101_500_000n);
    await bondsFor(alice, 800n);
    // 81.2 USDC reserve 81 dollars; 881 of 3.5 million are taken.
    expect(await vault("totalReservedUSD")).toBe(parseEther("81"));
    expect(await vault("availableCapacityUSD")).toBe(3_499_119n);
    const gift = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [bondVault, parseEther("100")],
    });
    await act.send(protocol(), owner, protocolToken, gift);
    expect(await vault("availableCapacityUSD")).toBe(3_499_124n);
    expect(await status()).toEqual([parseEther("70000100"), 7_000_010n, 800n, 3_499_124n, 10n ** 17n]);
    await act.setTokenPrice(protocol(), owner, "0.0000251");
    expect(await status()).toEqual([parseEther("70000100"), 1_757n, 800n, 0n, 251n * 10n ** 11n]);
  });

  test("answers with the lowest price for redemptions while the price oracle fails, and issues nothing", async () => {
    const { policyId } = await act.purchase(protocol(), alice, btc1h, 1_000n * USDC);
    await act.observeTwice(protocol(), stranger, btc1h, policyId);
    await act.setPriceStale(protocol(), owner, true);
    expect(await status()).toEqual([parseEther("70000000"), 70_000n, 0n, 34_200n, 10n ** 15n]);
    expect(await vault("maxRedeemThisEpoch")).toBe(756n);
    const failed = act.submitTrigger(protocol(), owner, btc1h, policyId);
    await expectRevert(failed, "OracleStale(3601, 3600)");
  });

  test("issues bonds for at most half of the reserve's value, whatever is reserved", async () => {
    const { policyId } = await act.purchase(protocol(), alice, btc1h, 1_000n * USDC);
    await act.purchase(protocol(), alice, btc1h, 10_000n * USDC);
    await act.observeTwice(protocol(), stranger, btc1h, policyId);
    const pay = () => act.submitTrigger(protocol(), owner, btc1h, policyId);
    // 799.99 dollars.
    await act.setTokenPrice(protocol(), owner, "0.0000228569");
    await expectRevert(pay(), "Exceeds capacity");
    await act.setTokenPrice(protocol(), owner, "0.0000228572");
    const { receipt } = await pay();
    // The price is below 0.005.
    expect(namesOf(receipt)).toEqual([
      ...["ReservationCommitted", "Shield.ConfirmationObserved", "Shield.PolicyVerified", "EpochCreated"],
      ...["TransferSingle", "BondsMinted", "BondIssued", "FloorPriceBreached", "PoliciesPausedSet"],
      ...["PolicyTriggered", "TriggerSubmitted"],
    ]);
  });

  test("has tokens of its reserve burned by authorised callers, 5 % at most at once", async () => {
    const most = parseEther("3500000");
    await expectRevert(act.burnReserves(protocol(), owner, 1n), "BondVault: caller not authorized");
    const allowed = await act.setAuthorizedCaller(protocol(), owner, owner.address, true);
    expect(act.onlyEvent(allowed, bondVaultAbi, "AuthorizedCallerUpdated").args).toEqual({
      ...{ caller: owner.address, authorized: true },
    });
    await expectRevert(act.burnReserves(protocol(), owner, parseEther("70000001")), "Insufficient reserves");
    await expectRevert(act.burnReserves(protocol(), owner, most + 1n), "Exceeds 5% per-tx cap");
    const receipt = await act.burnReserves(protocol(), owner, most);
    expect(namesOf(receipt)).toEqual(["Transfer", "ReservesBurned"]);
    expect(act.onlyEvent(receipt, bondVaultAbi, "ReservesBurned").args).toEqual({
      ...{ caller: owner.address, amount: most, newBalance: parseEther("66500000") },
    });
    expect(await tokenRead("totalBurned")).toBe(most);
    expect(await tokenRead("totalSupply")).toBe(parseEther("96500000"));
    const lower = encodeFunctionData({ abi: bondVaultAbi, functionName: "decreaseObligations", args: [1n] });
    const lowered = act.send(protocol(), owner, protocol().deployment.contracts.bondVault, lower);
    await expectRevert(lowered, "Amount exceeds committed");
  });
});

const status = () =>
  protocol().client.readContract({
    abi: bondVaultAbi,
    address: protocol().deployment.contracts.bondVault,
    functionName: "getStatus",
  });
const tokenRead = (functionName: "totalBurned" | "totalSupply") =>
  protocol().client.readContract({
    abi: protocolTokenAbi,
    address: protocol().deployment.contracts.protocolToken,
    functionName,
  });
