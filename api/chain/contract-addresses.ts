import type { Contracts, Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import { ApiError } from "../../lib/errors.ts";
import { catalogueOf } from "../../lib/products.ts";
import type { Protocol } from "./contracts/products.ts";

/** The deployment's contracts. @throws ApiError `health_contracts_incomplete`, which names the missing ones */
export function contractsOf(deployment: Deployment | IncompleteDeployment): Contracts {
  if (!("missing" in deployment)) return deployment.contracts;
  throw new ApiError(
    "health_contracts_incomplete",
    `The deployment lacks the address of: ${deployment.missing.join(", ")}`,
  );
}

/** The deployment's contracts and products. @throws as {@link contractsOf} */
export const protocolOf = (deployment: Deployment | IncompleteDeployment): Protocol => ({
  contracts: contractsOf(deployment),
  catalogue: catalogueOf(deployment),
});
