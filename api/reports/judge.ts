/**
 * Judges a report by the logs of its transaction alone, never by the transaction's sender and target: a Safe, a bundler
 * (ERC-4337) or a Multicall may have sent it.
 */
import { type Address, isAddressEqual, type Log, parseEventLogs } from "viem";
import { bondMarketplaceAbi } from "../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import type { Contracts } from "../../lib/deployments.ts";
import type { EventOf, Rejection, Report, ReportEvent } from "./report.ts";

/** The logs of a mined transaction. */
export type Logs = Log<bigint, number, false>[];

const logsOf = (logs: Logs, contract: Address): Logs =>
  logs.filter(({ address }) => isAddressEqual(address, contract));

/** A redemption has burned the holder's bonds before it; a `BondRedeemed` without that pays an entry of the queue. */
function redemptionsIn(logs: Logs, { bondVault, claimBond }: Contracts): EventOf<"redeem">[] {
  const burns = parseEventLogs({
    abi: claimBondAbi,
    eventName: "BondsBurned",
    logs: logsOf(logs, claimBond),
  });
  const events = parseEventLogs({
    abi: bondVaultAbi,
    eventName: ["BondRedeemed", "BondQueued"],
    logs: logsOf(logs, bondVault),
  });
  return events.flatMap((event): EventOf<"redeem">[] => {
    const { logIndex, args } = event;
    const { holder, usdAmount: amount } = args;
    const epochId = "epochId" in args ? args.epochId : args.epochIdBond;
    const used = burns.findIndex(
      (burn) =>
        burn.logIndex < logIndex &&
        isAddressEqual(burn.args.from, holder) &&
        burn.args.epochId === epochId &&
        burn.args.usdAmount === amount,
    );
    if (used < 0) return [];
    burns.splice(used, 1);
    const common = { kind: "redeem", logIndex, holder, epochId, amount } as const;
    if (event.eventName === "BondQueued") {
      const { targetThrottleEpoch: targetEpoch } = event.args;
      return [{ ...common, outcome: { status: "queued", targetEpoch } }];
    }
    const { luminaAmount: tokenAmount, priceUsed } = event.args;
    return [{ ...common, outcome: { status: "redeemed", tokenAmount, priceUsed } }];
  });
}

function listingsIn(logs: Logs, { marketplace }: Contracts): EventOf<"list">[] {
  const events = parseEventLogs({
    abi: bondMarketplaceAbi,
    eventName: "Listed",
    logs: logsOf(logs, marketplace),
  });
  return events.map(({ logIndex, args }) => {
    const { listingId, seller, epochId, amount, priceUSDC: price } = args;
    return { kind: "list", logIndex, listingId, seller, epochId, amount, price };
  });
}

/** `Bought` names no bond: it is in the last transfer from escrow to the buyer before it. */
function purchasesIn(logs: Logs, { marketplace, claimBond }: Contracts): EventOf<"buy">[] {
  const events = parseEventLogs({
    abi: bondMarketplaceAbi,
    eventName: "Bought",
    logs: logsOf(logs, marketplace),
  });
  const transfers = parseEventLogs({
    abi: claimBondAbi,
    eventName: "TransferSingle",
    logs: logsOf(logs, claimBond),
  });
  return events.flatMap(({ logIndex, args }) => {
    const { listingId, buyer, seller, priceUSDC, buyerFee } = args;
    const bond = transfers.findLast(
      (transfer) =>
        transfer.logIndex < logIndex &&
        isAddressEqual(transfer.args.from, marketplace) &&
        isAddressEqual(transfer.args.to, buyer),
    );
    if (!bond) return [];
    const { id: epochId, value: amount } = bond.args;
    const price = priceUSDC + buyerFee;
    return [{ kind: "buy", logIndex, listingId, buyer, seller, epochId, amount, price } as const];
  });
}

/** A value of the event that the report states. */
type Check<Event> = {
  readonly code: Rejection["code"];
  readonly name: string;
  readonly of: (event: Event) => bigint | Address;
  readonly reported: bigint | Address;
};

/** The event that passes all checks; otherwise the first check that no event passes after those before it. */
function choose<Event extends ReportEvent>(
  events: readonly Event[],
  name: string,
  checks: readonly Check<Event>[],
): Event | Rejection {
  let left = events;
  for (const { code, of, reported, ...check } of checks) {
    const passing = left.filter((event) => of(event) === reported);
    if (passing.length === 0 && left.length > 0) {
      const found = [...new Set(left.map((event) => String(of(event))))].join(" and ");
      return { code, message: `The transaction's ${name} has the ${check.name} ${found}, not ${reported}.` };
    }
    left = passing;
  }
  const [event] = left;
  return (
    event ?? { code: "event_missing", message: `The transaction has no ${name} by the protocol's contracts.` }
  );
}

/**
 * The event that a report describes, among the logs of its transaction, which has succeeded. Of several events it is the one
 * with the reported content.
 */
export function judge(report: Report, contracts: Contracts, logs: Logs): ReportEvent | Rejection {
  const { wallet } = report;
  switch (report.kind) {
    case "redeem":
      return choose(redemptionsIn(logs, contracts), "redemption", [
        { code: "holder_mismatch", name: "holder", of: (event) => event.holder, reported: wallet },
        { code: "epoch_mismatch", name: "bond", of: (event) => event.epochId, reported: report.epochId },
        { code: "amount_mismatch", name: "amount", of: (event) => event.amount, reported: report.amount },
      ]);
    case "list":
      return choose(listingsIn(logs, contracts), "listing", [
        { code: "seller_mismatch", name: "seller", of: (event) => event.seller, reported: wallet },
        { code: "epoch_mismatch", name: "bond", of: (event) => event.epochId, reported: report.epochId },
        { code: "amount_mismatch", name: "amount", of: (event) => event.amount, reported: report.amount },
        { code: "price_mismatch", name: "total price", of: (event) => event.price, reported: report.price },
      ]);
    case "buy":
      return choose(purchasesIn(logs, contracts), "purchase", [
        { code: "buyer_mismatch", name: "buyer", of: (event) => event.buyer, reported: wallet },
        {
          code: "listing_id_mismatch",
          name: "listing",
          of: (event) => event.listingId,
          reported: report.listingId,
        },
        { code: "amount_mismatch", name: "amount", of: (event) => event.amount, reported: report.amount },
        { code: "price_mismatch", name: "total paid", of: (event) => event.price, reported: report.price },
      ]);
  }
}

/** Why a report of a reverted transaction is refused; `reason` is the contract's, undefined where the node gives none. */
export const rejectRevert = (reason: string | undefined): Rejection => ({
  code: "tx_reverted",
  message: reason === undefined ? "The transaction reverted." : `The transaction reverted: ${reason}`,
});
