import { type Address, getAddress } from "viem";
import { decimalOrNull, isoTime } from "../http/field-types.ts";

/** One address's bonds of one epoch, in whole dollars; `maturityDate` in Unix seconds, null when unknown. */
export type Holding = {
  readonly epochId: bigint;
  readonly amount: bigint;
  readonly maturityDate: bigint | null;
};

/** Whether the bonds are redeemable at the time `now` (Unix seconds). */
const isMatured = ({ maturityDate }: Holding, now: bigint) => maturityDate !== null && now >= maturityDate;

/** All that an owner has on the bond contract and the marketplace. */
export type Position<Held extends Holding> = {
  /** Ascending by epoch. */
  readonly holdings: readonly Held[];
  /** Proceeds of sales that the owner has not withdrawn, USDC with 6 decimals. */
  readonly withdrawable: bigint;
};

/** A page of an owner's bonds at the time `now` (Unix seconds). */
export function bondListBody(
  owner: Address,
  { holdings, withdrawable }: Position<Holding>,
  { limit, offset }: { limit: number; offset: number },
  now: bigint,
) {
  const bonds = holdings.slice(offset, offset + limit).map((holding) => ({
    bondId: String(holding.epochId),
    epochId: String(holding.epochId),
    owner: getAddress(owner),
    amount: String(holding.amount),
    faceValueUsd: String(holding.amount),
    maturityDate: decimalOrNull(holding.maturityDate),
    matured: isMatured(holding, now),
  }));
  const totalAmount = holdings.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    owner: getAddress(owner),
    count: bonds.length,
    total: holdings.length,
    limit,
    offset,
    totalAmount: String(totalAmount),
    withdrawableUsdc: String(withdrawable),
    bonds,
  };
}

/**
 * An address's bonds of one epoch as the index has them: `redeemed` were redeemed and paid, `queued` are in the redemption
 * queue, `escrowed` are in open listings.
 */
export type IndexedHolding = Holding & {
  readonly redeemed: bigint;
  readonly queued: bigint;
  readonly escrowed: bigint;
};

export const bondStatuses = ["active", "matured", "redeemed", "all"] as const;
export type BondStatus = (typeof bondStatuses)[number];

/** The lifetime of a bond, in seconds: 730 days. */
const BOND_SECONDS = 63_072_000n;
/** A whole dollar as a price, 18 decimals, and in USDC. */
const DOLLAR_18 = 10n ** 18n;
const DOLLAR_USDC = 1_000_000n;

function hasStatus(holding: IndexedHolding, status: BondStatus, now: bigint): boolean {
  if (status === "redeemed") return holding.redeemed > 0n;
  if (status === "all") return true;
  return holding.amount > 0n && isMatured(holding, now) === (status === "matured");
}

/** `price`: the vault's price of the protocol token in USD, 18 decimals; null when it has none now. */
function walletBondBody(wallet: Address, holding: IndexedHolding, now: bigint, price: bigint | null) {
  const { epochId, amount, redeemed, queued, escrowed, maturityDate } = holding;
  const matured = isMatured(holding, now);
  // Rounded down, as the vault pays.
  const tokens = price === null ? null : String((amount * DOLLAR_18 * DOLLAR_18) / price);
  return {
    bondId: String(epochId),
    epochId: String(epochId),
    owner: wallet,
    balance: String(amount),
    amount: String(amount),
    redeemedAmount: String(redeemed),
    queuedAmount: String(queued),
    faceValue: String(amount * DOLLAR_18),
    faceValueUsdc: String(amount * DOLLAR_USDC),
    createdAt: maturityDate === null ? null : isoTime(maturityDate - BOND_SECONDS),
    maturityDate: maturityDate === null ? null : isoTime(maturityDate),
    isMatured: matured,
    matured,
    isRedeemed: redeemed > 0n && amount + queued + escrowed === 0n,
    tokenEquivalent: tokens,
    luminaEquivalent: tokens,
  };
}

export type WalletBondPage = {
  readonly status: BondStatus;
  readonly limit: number;
  readonly offset: number;
};

/** A page of a wallet's bonds with a status at the time `now` (Unix seconds), newest epoch first; `price` as in `walletBondBody`. */
export function walletBondsBody(
  address: Address,
  { holdings, withdrawable }: Position<IndexedHolding>,
  { status, limit, offset }: WalletBondPage,
  { now, price }: { now: bigint; price: bigint | null },
) {
  const wallet = getAddress(address);
  const found = holdings.filter((holding) => hasStatus(holding, status, now)).reverse();
  return {
    wallet,
    totalBonds: found.length,
    tokenPrice: decimalOrNull(price),
    withdrawableUsdc: String(withdrawable),
    bonds: found.slice(offset, offset + limit).map((holding) => walletBondBody(wallet, holding, now, price)),
    pagination: { limit, offset, hasMore: offset + limit < found.length },
  };
}
