import type { CallRequest } from "../../lib/chain/simulate-calls.ts";
import type { Chain } from "./chain.ts";

/** How long an estimate is used, in ms. Then the next call is estimated again, so that the figure can fall too. */
const ESTIMATE_TTL_MS = 60_000;

/**
 * Simulates calls of one kind, and returns the gas that they need. For an estimate the node runs a call a dozen times,
 * to find the least gas that is enough. A plain call with the highest recent estimate runs it once, and proves the
 * same.
 */
export function createGasEstimator(chain: Pick<Chain, "estimateGas" | "call">) {
  let highest: { gas: bigint; until: number } | undefined;

  /** Gas that is enough for the call in the latest state. Rejects with the contract's revert when it would revert. */
  return async function simulate(call: CallRequest): Promise<bigint> {
    if (highest && performance.now() < highest.until) {
      const { gas } = highest;
      // A call that fails is estimated: it may revert, or need more gas than the others.
      const enough = await chain.call({ ...call, gas }, "latest").then(
        () => true,
        () => false,
      );
      if (enough) return gas;
    }
    const gas = await chain.estimateGas(call);
    if (!highest || performance.now() >= highest.until || gas > highest.gas) {
      highest = { gas, until: performance.now() + ESTIMATE_TTL_MS };
    }
    return gas;
  };
}
