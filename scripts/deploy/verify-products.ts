/** The products of a deployment as the contracts must state them. */
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { type PlannedProduct, productConfig } from "../local/protocol/deployment-plan.ts";
import { withdrawnTerms } from "../local/protocol/terms.ts";
import type { Deployed, Expectation } from "./verify.ts";

/** One text for a product's terms, whatever the order of their fields. */
const termsText = (terms: object): string =>
  Object.entries(terms)
    .map(([name, value]) => `${name} ${String(value)}`)
    .sort()
    .join(", ");

/** The addresses behind a product, and its terms in router and shield. */
function readsOf(
  { client: { readContract: read }, plan: { contracts: c }, blockNumber }: Deployed,
  { terms, shield, adapter }: PlannedProduct,
): Expectation[] {
  const { name, productId } = terms;
  const router = { address: c.coverRouter, abi: coverRouterAbi, blockNumber } as const;
  const manager = { address: c.policyManager, abi: policyManagerAbi, blockNumber } as const;
  const adapterOf = { address: adapter, abi: shieldAdapterAbi, blockNumber } as const;
  const shieldOf = { address: shield, abi: flashShieldAbi, blockNumber } as const;
  const config = { ...productConfig(terms, adapter), active: productId !== withdrawnTerms.productId };
  const stated = read({ ...router, functionName: "getProductConfig", args: [productId] });
  return [
    [`terms of ${name}`, stated.then(termsText), termsText(config)],
    [
      `${name}: product's shield`,
      read({ ...manager, functionName: "productShield", args: [productId] }),
      adapter,
    ],
    [`${name}: adapter.router`, read({ ...adapterOf, functionName: "router" }), c.coverRouter],
    [`${name}: adapter.shield`, read({ ...adapterOf, functionName: "shield" }), shield],
    [`${name}: shield.adapter`, read({ ...shieldOf, functionName: "adapter" }), adapter],
    [
      `${name}: shield.feed`,
      read({ ...shieldOf, functionName: "feed" }),
      terms.symbol === "BTC" ? c.btcUsdFeed : c.ethUsdFeed,
    ],
    [`${name}: shield.sequencerFeed`, read({ ...shieldOf, functionName: "sequencerFeed" }), c.sequencerFeed],
    [`${name}: shield.productId`, read({ ...shieldOf, functionName: "productId" }), productId],
    [`${name}: shield.asset`, read({ ...shieldOf, functionName: "asset" }), terms.asset],
    [
      `${name}: shield.durationSeconds`,
      read({ ...shieldOf, functionName: "durationSeconds" }),
      terms.durationSeconds,
    ],
    [
      `${name}: shield.triggerDropBps`,
      read({ ...shieldOf, functionName: "triggerDropBps" }),
      terms.triggerDropBps,
    ],
  ];
}

export const productReads = (deployed: Deployed): Expectation[] =>
  deployed.plan.products.flatMap((product) => readsOf(deployed, product));
