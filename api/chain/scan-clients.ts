import { createReadClient, type ReadClient } from "../../lib/chain/client.ts";
import type { Deployment } from "../../lib/deployments.ts";

/** The node as live scans ask it: apart from the clients of health and purchases, which a scan must never hold up. */
export type ScanClients = {
  /** Windows of logs, each in a request of its own: one that is too large fails alone. The scan itself repeats. */
  readonly logs: ReadClient;
  /** Blocks and contracts. */
  readonly reads: ReadClient;
};

/** One call to the node, in ms: several windows may time out before one is small enough. */
const CALL_TIMEOUT_MS = 4000;

export const createScanClients = (
  deployment: Pick<Deployment, "chainId" | "name">,
  rpcUrl: string,
): ScanClients => ({
  logs: createReadClient(deployment, rpcUrl, { timeout: CALL_TIMEOUT_MS, retryCount: 0, batch: false }),
  reads: createReadClient(deployment, rpcUrl, { timeout: CALL_TIMEOUT_MS, retryCount: 1 }),
});
