/** Plans the calls that end the sale of old products. */
import { encodeFunctionData } from "viem";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { call, type PlannedTransaction } from "./planned-transactions.ts";
import { withdrawnTerms } from "./terms.ts";

/** Deactivates the withdrawn product. */
export const retirementCalls = ({ policyManager }: Contracts): PlannedTransaction[] => [
  call(
    `deactivate ${withdrawnTerms.name}`,
    policyManager,
    encodeFunctionData({
      abi: policyManagerAbi,
      functionName: "deactivateProduct",
      args: [withdrawnTerms.productId],
    }),
  ),
];
