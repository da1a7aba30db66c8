import { isLocal } from "../../lib/chain/client.ts";
import type { Dependencies } from "../dependencies.ts";
import { fromChain } from "../http/dependency-timeout.ts";

/**
 * Whether the chain is a local one, on which alone the defaults hold that everybody knows. It is asked once the node
 * answers, and until then nobody knows. Rejects with ApiError `chain_not_found`.
 */
export function createLocality({
  chain,
  deployment,
}: Pick<Dependencies, "chain" | "deployment">): () => Promise<boolean> {
  let known: boolean | undefined;
  return async () => {
    known ??= await fromChain(() => isLocal(chain, deployment));
    return known;
  };
}
