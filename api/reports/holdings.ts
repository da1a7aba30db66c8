/** What a wallet has after the transaction that it reported. */
import type { Address } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import type { Contracts } from "../../lib/deployments.ts";
import { readFunds } from "../chain/contracts/funds.ts";
import { readListing, readWalletBonds, readWithdrawable } from "../chain/contracts/market.ts";
import { fromChain } from "../http/dependency-timeout.ts";
import type { ReportEvent, ReportRecord } from "./report.ts";

/** A wallet's holdings in a block. USDC has 6 decimals, bonds are whole dollars. */
export type Holdings = {
  readonly blockNumber: bigint;
  readonly usdc: bigint;
  /** Of its sales, which the marketplace holds for it. */
  readonly withdrawable: bigint;
  /** Of the report's epoch, without those that a listing holds in escrow. */
  readonly bonds: bigint;
  /** The reported listing; null when it is sold or cancelled, or when no listing was reported. */
  readonly openListing: {
    readonly listingId: bigint;
    readonly amount: bigint;
    readonly price: bigint;
  } | null;
};

/** The wallet that the event is about: the report's. */
function walletOf(event: ReportEvent): Address {
  switch (event.kind) {
    case "redeem":
      return event.holder;
    case "list":
      return event.seller;
    case "buy":
      return event.buyer;
  }
}

async function readNow(
  client: ReadClient,
  contracts: Contracts,
  { event, block }: ReportRecord,
): Promise<Holdings | null> {
  const blockNumber = await client.getBlockNumber();
  // A node that lags behind the record would show what the wallet had before.
  if (blockNumber < block.number) return null;
  const wallet = walletOf(event);
  const [{ balance: usdc }, withdrawable, { balance: bonds }, listing] = await Promise.all([
    readFunds(client, contracts, wallet, blockNumber),
    readWithdrawable(client, contracts, wallet, blockNumber),
    readWalletBonds(client, contracts, wallet, event.epochId, blockNumber),
    event.kind === "list" ? readListing(client, contracts, event.listingId, blockNumber) : undefined,
  ]);
  const held = { blockNumber, usdc, withdrawable, bonds };
  if (event.kind !== "list" || !listing?.active) return { ...held, openListing: null };
  const { amount, price } = listing;
  return { ...held, openListing: { listingId: event.listingId, amount, price } };
}

/**
 * Reads what the record's wallet has in the newest block. Null when the node does not answer within the time limit, answers
 * with an error, or lags behind the record: that never makes a report fail.
 */
export const readHoldings = (
  client: ReadClient,
  contracts: () => Contracts,
  record: ReportRecord,
): Promise<Holdings | null> => fromChain(async () => readNow(client, contracts(), record)).catch(() => null);
