import { isLocal, type ReadClient } from "../../lib/chain/client.ts";
import type { Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import { fromChain } from "../http/dependency-timeout.ts";

/**
 * Checks once whether the chain is local; only there do the public defaults (admin token, secrets key) work. Rejects with
 * ApiError `chain_not_found` until the node answers.
 */
export function createLocalChainCheck({
  client,
  deployment,
}: {
  client: ReadClient;
  deployment: Deployment | IncompleteDeployment;
}): () => Promise<boolean> {
  let known: boolean | undefined;
  return async () => {
    known ??= await fromChain(() => isLocal(client, deployment));
    return known;
  };
}
