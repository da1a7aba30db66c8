import type { Address, Hex } from "viem";

/** A contract call, or with `to` null a contract creation. `what` names it in errors. */
export type PlannedTransaction = {
  readonly what: string;
  readonly to: Address | null;
  readonly data: Hex;
  readonly gas: bigint;
};

/** More than any of them uses (the router needs 3.7 million). Unused gas is not charged. */
const CREATION_GAS = 4_500_000n;
const CALL_GAS = 600_000n;

export const creation = (what: string, data: Hex): PlannedTransaction => ({
  what: `create ${what}`,
  to: null,
  data,
  gas: CREATION_GAS,
});
/** A call of a contract that an earlier transaction creates. */
export const call = (what: string, to: Address, data: Hex): PlannedTransaction => ({
  what,
  to,
  data,
  gas: CALL_GAS,
});
