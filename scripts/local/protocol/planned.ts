import type { Address, Hex } from "viem";
import type { PlannedTransaction } from "./send.ts";

/** Above what any of them takes (the router needs 3.7 million); the rest is not charged. */
const CREATION_GAS = 4_500_000n;
const CALL_GAS = 600_000n;

/** The creation of a contract. */
export const creation = (what: string, data: Hex): PlannedTransaction => ({
  what: `create ${what}`,
  to: null,
  data,
  gas: CREATION_GAS,
});
/** A call of a contract that stands by then. */
export const call = (what: string, to: Address, data: Hex): PlannedTransaction => ({
  what,
  to,
  data,
  gas: CALL_GAS,
});
