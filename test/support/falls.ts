/** Falls of a price that somebody else, above all the keeper, observes: rounds, and a clock that moves on between them. */
import type { LocalAccount } from "viem";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
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

const policyOf = (
  { client, deployment }: Protocol,
  { productId }: Pick<ProductTerms, "productId">,
  policyId: bigint,
) =>
  client.readContract({
    address: deployment.contracts.policyManager,
    abi: policyManagerAbi,
    functionName: "getPolicy",
    args: [productId, policyId],
  });

/** The observations of a policy, by the chain; 3 once it is paid. */
export async function observationsOf(
  protocol: Protocol,
  product: Pick<ProductTerms, "productId">,
  policyId: bigint,
): Promise<number> {
  const { triggered } = await policyOf(protocol, product, policyId);
  return triggered ? 3 : (await act.coverOf(protocol, product, policyId)).count;
}

/** Whether a policy is paid, or observed since a time (Unix seconds). */
async function isObservedSince(
  protocol: Protocol,
  product: Pick<ProductTerms, "productId">,
  policyId: bigint,
  time: bigint,
): Promise<"paid" | boolean> {
  const { shield } = await act.coverOf(protocol, product, policyId);
  const [count, last] = await protocol.client.readContract({
    ...{ address: shield, abi: flashShieldAbi, functionName: "getConfirmation", args: [policyId] },
  });
  // After the count: a payment between the two reads would look like an observation.
  const { triggered } = await policyOf(protocol, product, policyId);
  return triggered ? "paid" : count > 0 && last >= time;
}

/**
 * Waits until policies at a low price are paid by somebody else's observations: when all are observed at the newest round, the clock
 * moves on by a minute, and a newer round repeats the price.
 */
export async function payByFalls(
  protocol: Protocol,
  account: LocalAccount,
  product: ProductTerms,
  policyIds: readonly bigint[],
): Promise<void> {
  for (;;) {
    const { price, updatedAt } = await act.latestRound(protocol, product.symbol);
    const observed = await waitFor({
      what: `policies ${policyIds.join(", ")} of ${product.name} to be observed at the round of ${updatedAt}`,
      probe: async () => {
        const are = await Promise.all(
          policyIds.map((id) => isObservedSince(protocol, product, id, updatedAt)),
        );
        return are.every((is) => is !== false) ? are : undefined;
      },
    });
    if (observed.every((is) => is === "paid")) return;
    await act.timeTravel(protocol, BigInt(OBSERVATION_INTERVAL));
    await act.pushPrice(protocol, account, product.symbol, price);
  }
}
