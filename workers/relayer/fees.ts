import { maxUint32, serializeTransaction, size } from "viem";
import { shareReadBy } from "../../lib/shared-read.ts";
import { greater, smaller } from "../common/bigints.ts";
import type { Call, PricedCall } from "../ledger/assign-nonces.ts";
import type { Block, Chain } from "./chain.ts";

/** In wei per gas: the base fee of the latest block, and the priority fee that the node suggests. */
type MarketFees = { baseFee: bigint; priorityFee: bigint };
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

/** How long a block's fees are used, in ms, when the watcher reports no newer block. */
const MAX_AGE_MS = 4000;

/**
 * The fees of the latest block, requested once per block however many transactions are signed.
 *
 * @param maxPriorityFee the most of the node's suggestion that is taken, in wei per gas: it is a guess from a few blocks.
 */
export function createFeeMarket(chain: Pick<Chain, "block" | "priorityFee">, maxPriorityFee: bigint) {
  let cached: { at: number; fees: Promise<MarketFees> } | undefined;
  let latest: { at: number; block: Block } | undefined;

  async function read(head: Pick<Block, "baseFee"> | undefined): Promise<MarketFees> {
    const [block, suggested] = await Promise.all([head ?? chain.block("latest"), chain.priorityFee()]);
    if (!block) throw new Error("the node has no latest block");
    return { baseFee: block.baseFee, priorityFee: suggested < maxPriorityFee ? suggested : maxPriorityFee };
  }

  function refresh(head: Pick<Block, "baseFee"> | undefined): Promise<MarketFees> {
    const fees = read(head);
    cached = { at: performance.now(), fees };
    fees.catch(() => {
      if (cached?.fees === fees) cached = undefined;
    });
    return fees;
  }

  return {
    /** The watcher has read a new head: the next call of `now` returns this block's fees. */
    onBlock(block: Block): void {
      latest = { at: performance.now(), block };
      cached = undefined;
    },
    /** Rejects when the node does not answer. */
    now(): Promise<MarketFees> {
      if (cached && performance.now() - cached.at < MAX_AGE_MS) return cached.fees;
      const fresh = latest && performance.now() - latest.at < MAX_AGE_MS ? latest.block : undefined;
      return refresh(fresh);
    },
  };
}

export type FeeMarket = ReturnType<typeof createFeeMarket>;

/** The time between two blocks of the L1, in ms: each changes the fee by an eighth at most. */
const L1_BLOCK_MS = 12_000;
/** Twice the fee outlasts five full blocks of the L1, and covers other data of the same size. */
const MARGIN = 2n;

/** Serializes a transaction with this call. Its other fields are as long as the longest that the writer signs. */
const unsigned = ({ to, data }: Call) =>
  serializeTransaction({
    type: "eip1559",
    chainId: Number(maxUint32),
    nonce: Number(maxUint32),
    to,
    data,
    value: 10n ** 24n,
    gas: maxUint32,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 12n,
  });

/**
 * Adds the most that the chain may charge for a call's data on the L1: read once per block of the L1 for all calls of a
 * size. Rejects when the node does not answer.
 */
export function createCallPricer(chain: Pick<Chain, "l1Fee">): (call: Call) => Promise<PricedCall> {
  const newest = new Map<number, Call>();
  const l1Fee = shareReadBy(L1_BLOCK_MS, async (bytes: number) => {
    const call = newest.get(bytes);
    return call ? MARGIN * (await chain.l1Fee(unsigned(call))) : 0n;
  });
  return async (call) => {
    const bytes = size(call.data);
    newest.set(bytes, call);
    return { ...call, l1Fee: await l1Fee(bytes) };
  };
}
