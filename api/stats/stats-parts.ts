import type { Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import type { IndexReader } from "../indexed/reader.ts";
import type { IndexedResponses } from "../indexed/responses.ts";

/** What the statistics need. */
export type StatsParts = {
  readonly index: IndexReader;
  readonly responses: IndexedResponses;
  readonly chain: Pick<ChainReads, "waitingUsdc" | "vaultPrice">;
  readonly deployment: Pick<Deployment | IncompleteDeployment, "chainId" | "contracts">;
};
