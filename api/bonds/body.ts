import { type Address, getAddress } from "viem";

/** One address's bonds of one epoch, in whole dollars; `maturityDate` in Unix seconds, null when unknown. */
export type Holding = {
  readonly epochId: bigint;
  readonly amount: bigint;
  readonly maturityDate: bigint | null;
};

/** A page of an owner's bonds at the time `now` (Unix seconds). `holdings` are all of them, ascending by epoch. */
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
