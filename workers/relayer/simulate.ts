import type { CallRequest, Chain } from "./chain.ts";

/** An estimate stands for so long, in ms: then a call is estimated anew, so that the figure can fall too. */
const ESTIMATE_TTL_MS = 60_000;

/**
 * Simulates calls of one kind, and tells how much gas they need. An estimate makes the node run a call a dozen times to
 * find the least that is enough; a plain call with as much gas as the dearest of late runs it once, and proves the same.
 */
export function createSimulator(chain: Pick<Chain, "estimateGas" | "call">) {
  let dearest: { gas: bigint; until: number } | undefined;

  /** Gas that the call can do with in the newest state. Rejects with the contract's revert when it would revert. */
  return async function simulate(call: CallRequest): Promise<bigint> {
    if (dearest && performance.now() < dearest.until) {
      const { gas } = dearest;
      // Whatever fails is estimated: it may revert, or need more gas than the others.
      const enough = await chain.call({ ...call, gas }, "latest").then(
        () => true,
        () => false,
      );
      if (enough) return gas;
    }
    const gas = await chain.estimateGas(call);
    if (!dearest || performance.now() >= dearest.until || gas > dearest.gas) {
      dearest = { gas, until: performance.now() + ESTIMATE_TTL_MS };
    }
    return gas;
  };
}
