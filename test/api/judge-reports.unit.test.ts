/**
 * Reports are judged by logs of the protocol's contracts alone, a purchase's bond is the one that it moved, and the market's reverts
 * have one code, whether they are V5.4's strings or the specification's errors.
 */
import { type Abi, type Address, encodeErrorResult, type Hex, numberToHex, padHex, zeroHash } from "viem";
import { expect, test } from "vitest";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { judge, type Logs, rejectRevert } from "../../api/reports/judge.ts";
import { decodeRevert } from "../../lib/chain/reverts.ts";
import type { Contracts } from "../../lib/deployments.ts";
import { entry } from "../src/support/emitter-chain.ts";

const addressOf = (n: number): Address => padHex(numberToHex(n), { size: 20 });
const contracts: Contracts = {
  ...{ coverRouter: addressOf(100), policyManager: addressOf(101), bondVault: addressOf(102) },
  ...{ claimBond: addressOf(103), marketplace: addressOf(104), twapBurner: addressOf(105) },
  ...{ buybackEngine: addressOf(106), pauseRegistry: addressOf(107), protocolToken: addressOf(108) },
  ...{ usdc: addressOf(109), btcUsdFeed: addressOf(110), ethUsdFeed: addressOf(111) },
  sequencerFeed: addressOf(113),
};
const { bondVault, marketplace, claimBond } = contracts;
const [wallet, other] = [addressOf(1), addressOf(2)];
const txHash: Hex = zeroHash;

const log = (at: Address, abi: Abi, event: string, args: Readonly<Record<string, unknown>>) =>
  entry(at, abi, event, args);
function logsOf(...entries: ReturnType<typeof log>[]): Logs {
  return entries.map(({ at, topics, data }, logIndex) => {
    const [signature, ...rest] = topics;
    if (!signature) throw new Error("a log without topics");
    return {
      ...{ address: at, topics: [signature, ...rest], data, logIndex, removed: false },
      ...{ blockNumber: 1n, blockHash: zeroHash, transactionHash: txHash, transactionIndex: 0 },
    };
  });
}

const redeemed = (holder: Address, usdAmount: bigint, at = bondVault) =>
  log(at, bondVaultAbi, "BondRedeemed", {
    ...{ holder, epochId: 202_812n, usdAmount, luminaAmount: 10n * usdAmount, priceUsed: 10n ** 17n },
  });
const burned = (from: Address, usdAmount: bigint, at = claimBond) =>
  log(at, claimBondAbi, "BondsBurned", { epochId: 202_812n, from, usdAmount });
/** A redemption at once. */
const atOnce = (holder: Address, usdAmount: bigint) => [
  burned(holder, usdAmount),
  redeemed(holder, usdAmount),
];
const bought = (listingId: bigint, buyer: Address) =>
  log(marketplace, bondMarketplaceAbi, "Bought", {
    ...{ listingId, buyer, seller: other, priceUSDC: 1_000n, sellerFee: 15n, buyerFee: 15n },
  });
const moved = (to: Address, id: bigint, value: bigint, at = claimBond, from = marketplace) =>
  log(at, claimBondAbi, "TransferSingle", { operator: marketplace, from, to, id, value });

const redemption = { kind: "redeem", wallet, txHash, epochId: 202_812n, amount: 5n } as const;
const purchase = { kind: "buy", wallet, txHash, listingId: 7n, amount: 5n, price: 1_015n } as const;

test("an event that another contract imitates does not count", () => {
  expect(
    judge(redemption, contracts, logsOf(burned(wallet, 5n), redeemed(wallet, 5n, addressOf(9)))),
  ).toMatchObject({
    code: "event_missing",
  });
});

test("of several events it is the one with the wallet and the content, wherever it stands", () => {
  const redemptions = [atOnce(other, 5n), atOnce(wallet, 4n), atOnce(wallet, 5n), atOnce(wallet, 6n)];
  expect(judge(redemption, contracts, logsOf(...redemptions.flat()))).toMatchObject({
    ...{ kind: "redeem", logIndex: 5, amount: 5n },
  });
});

test("the refusal names what the wallet's events have instead", () => {
  const logs = logsOf(...atOnce(wallet, 4n), ...atOnce(wallet, 6n), ...atOnce(other, 5n));
  expect(judge(redemption, contracts, logs)).toEqual({
    code: "amount_mismatch",
    message: "The transaction's redemption has the amount 4 and 6, not 5.",
  });
});

test("a payment from the queue is none: it has burned no bonds before it", () => {
  const missing = { code: "event_missing" };
  expect(judge(redemption, contracts, logsOf(redeemed(wallet, 5n)))).toMatchObject(missing);
  const afterwards = logsOf(redeemed(wallet, 5n), burned(wallet, 5n));
  expect(judge(redemption, contracts, afterwards)).toMatchObject(missing);
  const others = [burned(wallet, 4n), burned(other, 5n), burned(wallet, 5n, addressOf(9))];
  expect(judge(redemption, contracts, logsOf(...others, redeemed(wallet, 5n)))).toMatchObject(missing);
  // Of two payments in one transaction the burn belongs to the one after it.
  const both = logsOf(redeemed(wallet, 5n), ...atOnce(wallet, 5n), redeemed(wallet, 5n));
  expect(judge(redemption, contracts, both)).toMatchObject({ logIndex: 2 });
});

test("a queued redemption has its week", () => {
  const queued = log(bondVault, bondVaultAbi, "BondQueued", {
    ...{ holder: wallet, epochIdBond: 202_812n, usdAmount: 5n, targetThrottleEpoch: 2_924n },
  });
  expect(judge(redemption, contracts, logsOf(burned(wallet, 5n), queued))).toMatchObject({
    ...{ logIndex: 1, epochId: 202_812n, outcome: { status: "queued", targetEpoch: 2_924n } },
  });
});

test("a purchase has the bond that moved from escrow to the buyer before it", () => {
  const logs = logsOf(
    moved(wallet, 202_801n, 9n),
    bought(6n, wallet),
    moved(wallet, 202_806n, 5n),
    moved(wallet, 202_803n, 1n, addressOf(9)),
    moved(wallet, 202_804n, 1n, claimBond, other),
    moved(other, 202_805n, 1n),
    bought(7n, wallet),
    moved(wallet, 202_802n, 8n),
  );
  expect(judge(purchase, contracts, logs)).toMatchObject({
    ...{ kind: "buy", listingId: 7n, epochId: 202_806n, amount: 5n, price: 1_015n, seller: other },
  });
});

test("a purchase that moved no bond does not count", () => {
  expect(judge(purchase, contracts, logsOf(bought(7n, wallet)))).toMatchObject({ code: "event_missing" });
});

const errorString = (text: string) =>
  encodeErrorResult({
    abi: [{ type: "error", name: "Error", inputs: [{ type: "string", name: "reason" }] }],
    args: [text],
  });
const belowFloor = encodeErrorResult({
  abi: bondMarketplaceAbi,
  errorName: "InsufficientListingValue",
  args: [999_999n, 1_000_000n],
});
const notOwner = encodeErrorResult({ abi: bondMarketplaceAbi, errorName: "NotBondOwner", args: [wallet] });
const matured = encodeErrorResult({
  abi: bondMarketplaceAbi,
  errorName: "NotMatured",
  args: [202_812n, 0n],
});
const notFound = encodeErrorResult({ abi: bondMarketplaceAbi, errorName: "ListingNotFound", args: [7n] });

test.each([
  ["Amount zero", belowFloor, "InsufficientListingValue(999999, 1000000)"],
  ["Price zero", belowFloor, "InsufficientListingValue(999999, 1000000)"],
  ["below minimum", belowFloor, "InsufficientListingValue(999999, 1000000)"],
  ["Insufficient balance", notOwner, `NotBondOwner(${wallet})`],
  ["Bond matured", matured, "NotMatured(202812, 0)"],
  ["BOND_MATURED", matured, "NotMatured(202812, 0)"],
  ["Not active", notFound, "ListingNotFound(7)"],
  ["Not seller", notOwner, `NotBondOwner(${wallet})`],
])(
  "the market's revert %s and the specification's error have one code, each with its reason",
  (deployed, error, specified) => {
    for (const [data, reason] of [
      [errorString(deployed), deployed],
      [error, specified],
    ] as const)
      expect(rejectRevert(decodeRevert(data).text)).toEqual({
        code: "tx_reverted",
        message: `The transaction reverted: ${reason}`,
      });
  },
);
