/** Plans the call that ends the sale of the retired product. */
import { encodeFunctionData } from "viem";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { call, type PlannedTransaction } from "./planned-transactions.ts";
import { retiredTerms } from "./terms.ts";

export const retirementCall = (c: Contracts): PlannedTransaction =>
  call(
    `deactivate ${retiredTerms.name}`,
    c.policyManager,
    encodeFunctionData({
      abi: policyManagerAbi,
      functionName: "deactivateProduct",
      args: [retiredTerms.productId],
    }),
  );
