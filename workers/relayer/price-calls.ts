import { maxUint32, serializeTransaction, size } from "viem";
import { shareReadBy } from "../../lib/shared-read.ts";
import type { Call } from "../ledger/assign-nonces.ts";
import type { PricedCall } from "../ledger/call-cost.ts";
import type { Chain } from "./chain.ts";

/** The time between two blocks of the L1, in ms: each changes the fee by an eighth at most. */
const L1_BLOCK_MS = 12_000;
/** Twice the fee outlasts five full blocks of the L1, and covers other data of the same size. */
const MARGIN = 2n;

/** A call in a transaction whose other fields are no shorter than those of any that is signed. */
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
