/** Plans the calls that end the sale of old products. */
import { encodeFunctionData } from "viem";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { call, type PlannedTransaction } from "./planned-transactions.ts";
import type { ProductTerms } from "./terms.ts";

/** Pauses the V5.0 product and deactivates the withdrawn one, as in release V5.4. */
export const retirementCalls = (c: Contracts, products: readonly ProductTerms[]): PlannedTransaction[] =>
  products.flatMap((terms) => retirementOf(c, terms));

function retirementOf(c: Contracts, { name, productId, generation }: ProductTerms): PlannedTransaction[] {
  switch (generation) {
    case "catalogue":
      return [];
    case "legacy":
      return [
        call(
          `pause ${name}`,
          c.coverRouter,
          encodeFunctionData({
            abi: coverRouterAbi,
            functionName: "setProductPaused",
            args: [productId, true],
          }),
        ),
      ];
    case "withdrawn":
      return [
        call(
          `deactivate ${name}`,
          c.policyManager,
          encodeFunctionData({
            abi: policyManagerAbi,
            functionName: "deactivateProduct",
            args: [productId],
          }),
        ),
      ];
  }
}
