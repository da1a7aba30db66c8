/** Fee rules, in wei per gas. */
import { greater, smaller } from "../common/bigints.ts";

/** The base fee of the latest block, and the priority fee that the node suggests. */
export type MarketFees = { baseFee: bigint; priorityFee: bigint };
export type Fees = { maxFee: bigint; priorityFee: bigint };

/** Nodes replace a transaction only when both of its fees rise by a tenth at least; an eighth leaves room to round. */
const BUMP_DIVISOR = 8n;

const raised = (fee: bigint) => fee + fee / BUMP_DIVISOR + 1n;

/** The highest fee of a call where `cap` is the highest of all: an empty transfer can still outbid it. */
export const callCap = (cap: bigint): bigint => greater(cap - cap / (BUMP_DIVISOR + 1n) - 1n, 0n);

/**
 * The fees of a new transaction: twice the base fee outlasts six full blocks. Undefined when the base fee alone is
 * above `cap`: then nothing is signed until it falls.
 */
export function initialFees({ baseFee, priorityFee }: MarketFees, cap: bigint): Fees | undefined {
  if (baseFee > cap) return undefined;
  const maxFee = smaller(2n * baseFee + priorityFee, cap);
  return { maxFee, priorityFee: smaller(priorityFee, maxFee) };
}

/**
 * The fees that replace signed forms: an eighth above the highest of them, or the market's when that is more. Undefined
 * when the least that a node would accept is above `cap`.
 */
export function bumpedFees(forms: readonly Fees[], market: MarketFees, cap: bigint): Fees | undefined {
  const highest = (fee: keyof Fees) => forms.map((form) => form[fee]).reduce(greater, 0n);
  const least = { maxFee: raised(highest("maxFee")), priorityFee: raised(highest("priorityFee")) };
  if (least.maxFee > cap) return undefined;
  const maxFee = smaller(greater(least.maxFee, 2n * market.baseFee + market.priorityFee), cap);
  return { maxFee, priorityFee: smaller(greater(least.priorityFee, market.priorityFee), maxFee) };
}
