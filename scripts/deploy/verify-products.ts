/** The products of a deployment as the contracts must state them. */
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { type PlannedProduct, productConfig } from "../local/protocol/deployment-plan.ts";
import { retiredTerms } from "../local/protocol/terms.ts";
import type { Deployed, Expectation } from "./verify.ts";

/** One text for a product's terms, whatever the order of their fields. */
const termsText = (terms: object): string =>
  Object.entries(terms)
    .map(([name, value]) => `${name} ${String(value)}`)
    .sort()
    .join(", ");

/** The addresses behind a product, its terms in the router, and its two switches. */
function readsOf(
  { client: { readContract: read }, plan: { contracts: c }, blockNumber }: Deployed,
  { terms, shield, adapter }: PlannedProduct,
): Expectation[] {
  const { name, productId } = terms;
  const router = { address: c.coverRouter, abi: coverRouterAbi, blockNumber } as const;
  const manager = { address: c.policyManager, abi: policyManagerAbi, blockNumber } as const;
  const adapterOf = { address: adapter, abi: shieldAdapterAbi, blockNumber } as const;
  const shieldOf = { address: shield, abi: flashShieldAbi, blockNumber } as const;
  const [id, payoutRatioBps, probability, marginBps, durationSeconds, active] = productConfig(terms);
  const config = {
    productId: id,
    payoutRatioBps,
    triggerProbBps: probability,
    marginBps,
    durationSeconds,
    active,
  };
  const stated = read({ ...router, functionName: "getProductConfig", args: [productId] });
  return [
    [`terms of ${name}`, stated.then(termsText), termsText(config)],
    [
      `${name}: premium`,
      read({ ...router, functionName: "exactPremiums", args: [productId] }),
      terms.premiumPpm,
    ],
    [
      `${name}: product's shield`,
      read({ ...manager, functionName: "productShield", args: [productId] }),
      adapter,
    ],
    [
      `${name}: sold by the manager`,
      read({ ...manager, functionName: "productActive", args: [productId] }),
      productId !== retiredTerms.productId,
    ],
    [
      `${name}: adapter.policyManager`,
      read({ ...adapterOf, functionName: "policyManager" }),
      c.policyManager,
    ],
    [`${name}: adapter.productId`, read({ ...adapterOf, functionName: "productId" }), productId],
    [`${name}: adapter.shield`, read({ ...adapterOf, functionName: "shield" }), shield],
    [`${name}: adapter.keeper`, read({ ...adapterOf, functionName: "keeper" }), c.shieldKeeper],
    [`${name}: shield.router`, read({ ...shieldOf, functionName: "router" }), adapter],
    [
      `${name}: shield.priceFeed`,
      read({ ...shieldOf, functionName: "priceFeed" }),
      terms.symbol === "BTC" ? c.btcUsdFeed : c.ethUsdFeed,
    ],
    [`${name}: shield.sequencerFeed`, read({ ...shieldOf, functionName: "sequencerFeed" }), c.sequencerFeed],
    [`${name}: shield.asset`, read({ ...shieldOf, functionName: "asset" }), terms.asset],
  ];
}

export const productReads = (deployed: Deployed): Expectation[] =>
  deployed.plan.products.flatMap((product) => readsOf(deployed, product));
