/** Falls of a price that somebody else, above all the keeper, observes: rounds, and a clock that moves on between them. */
import type { LocalAccount } from "viem";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { DWELL, OBSERVATION_INTERVAL } from "../../lib/price-rules.ts";
import type { AssetSymbol } from "../../lib/products.ts";
import type { Protocol } from "../../scripts/local/protocol/actions/index.ts";
import type { ProductTerms } from "../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import * as act from "./protocol-actions.ts";

/** Moves the clock on until policies that were just bought can be observed. */
export const passDwell = (protocol: Protocol) => act.timeTravel(protocol, BigInt(DWELL));

/** Pushes a round of half the present price: it reaches the trigger of every policy. @returns the number of its block */
export async function halvePrice(
  protocol: Protocol,
  account: LocalAccount,
  feed: AssetSymbol,
): Promise<bigint> {
  const { price } = await act.latestRound(protocol, feed);
  return (await act.pushPrice(protocol, account, feed, price / 2n)).blockNumber;
}

/** The observations of a policy, by the chain; 3 once it is paid. */
export async function observationsOf(
  protocol: Protocol,
  product: Pick<ProductTerms, "productId" | "asset">,
  policyId: bigint,
): Promise<number> {
  const { triggered } = await protocol.client.readContract({
    address: protocol.deployment.contracts.policyManager,
    abi: policyManagerAbi,
    functionName: "getPolicy",
    args: [product.productId, policyId],
  });
  return triggered ? 3 : (await act.coverOf(protocol, product, policyId)).count;
}

/**
 * Waits until policies at a low price are paid by somebody else's observations: after each of them the clock moves on by a minute, and
 * a newer round repeats the price.
 */
export async function payByFalls(
  protocol: Protocol,
  account: LocalAccount,
  product: ProductTerms,
  policyIds: readonly bigint[],
): Promise<void> {
  const count = () => Promise.all(policyIds.map((id) => observationsOf(protocol, product, id)));
  for (let before = await count(); !before.every((n) => n === 3); before = await count()) {
    const last = before;
    await waitFor({
      what: `${policyIds.length} policies of ${product.name} to be observed, which have ${last.join(", ")} observations`,
      probe: async () => (await count()).every((n, i) => n === 3 || n > (last[i] ?? 0)) || undefined,
    });
    if ((await count()).every((n) => n === 3)) return;
    await act.timeTravel(protocol, BigInt(OBSERVATION_INTERVAL));
    const { price } = await act.latestRound(protocol, product.symbol);
    await act.pushPrice(protocol, account, product.symbol, price);
  }
}
