import type { Deployment } from "../deployments.ts";
import { createReadClient, type ReadClient } from "./client.ts";

/** Clients for live scans only, so that a scan never delays health checks or purchases. */
export type ScanClients = {
  /** For windows of logs, one request each, so that a window that is too large fails alone. The scan itself retries. */
  readonly logs: ReadClient;
  /** For blocks and contract calls. */
  readonly reads: ReadClient;
};

/** Timeout of one call, in ms: several windows may time out before one is small enough. */
const CALL_TIMEOUT_MS = 4000;

export const createScanClients = (
  deployment: Pick<Deployment, "chainId" | "name">,
  rpcUrl: string,
): ScanClients => ({
  logs: createReadClient(deployment, rpcUrl, { timeout: CALL_TIMEOUT_MS, retryCount: 0, batch: false }),
  reads: createReadClient(deployment, rpcUrl, { timeout: CALL_TIMEOUT_MS, retryCount: 1 }),
});
