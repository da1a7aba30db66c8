import { type Address, getAddress } from "viem";

/** What one address holds of one epoch; `maturityDate` in Unix seconds, null when it is not known. */
export type Holding = {
  readonly epochId: bigint;
  readonly amount: bigint;
  readonly maturityDate: bigint | null;
};

/** A page of an owner's holdings, all of which are given, ascending by epoch, as of the time `now` (Unix seconds). */
export function bondListBody(
  owner: Address,
  holdings: readonly Holding[],
  { limit, offset }: { limit: number; offset: number },
  now: bigint,
) {
  const bonds = holdings.slice(offset, offset + limit).map(({ epochId, amount, maturityDate }) => ({
    bondId: String(epochId),
    epochId: String(epochId),
    owner: getAddress(owner),
    amount: String(amount),
    faceValueUsd: String(amount),
    maturityDate: maturityDate === null ? null : String(maturityDate),
    matured: maturityDate !== null && now >= maturityDate,
  }));
  const totalAmount = holdings.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    owner: getAddress(owner),
    count: bonds.length,
    total: holdings.length,
    limit,
    offset,
    totalAmount: String(totalAmount),
    bonds,
  };
}
