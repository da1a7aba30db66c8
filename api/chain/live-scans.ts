/** Shared by the live scans of all lists: clients, window size, concurrency limit and block reader. */
import type { Address } from "viem";
import { type BlockRange, type LogScan, WindowSize } from "../../lib/chain/log-scan.ts";
import type { ScanClients } from "../../lib/chain/scan-clients.ts";
import type { Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import type { ChainHead } from "./block.ts";
import { protocolOf } from "./contract-addresses.ts";
import type { Protocol } from "./contracts/products.ts";
import { type BlockReader, createBlockReader } from "./one-block.ts";
import { createScanLimit, SCAN_TIMEOUT_MS, type SharedScans, shareScans } from "./shared-scans.ts";

export type LiveScans = {
  readonly reads: ScanClients["reads"];
  readonly reader: BlockReader;
  /** @throws ApiError `health_contracts_incomplete` */
  readonly protocol: () => Protocol;
  /** For logs that only the rows of a response need. */
  readonly logScan: () => LogScan;
  /** Shares one scan per wallet among concurrent requests. `scan` reads the range from the deployment's first block. */
  share<T>(scan: (logs: LogScan, wallet: Address, range: BlockRange) => Promise<T>): SharedScans<T>;
};

export function createLiveScans(
  clients: ScanClients,
  deployment: Deployment | IncompleteDeployment,
): LiveScans {
  const window = new WindowSize();
  const limit = createScanLimit();
  const rangeTo = ({ number }: ChainHead): BlockRange => ({
    from: BigInt(deployment.startBlock),
    to: number,
  });
  const scanWith = (signal: AbortSignal): LogScan => ({ client: clients.logs, window, signal });
  return {
    reads: clients.reads,
    reader: createBlockReader(clients.reads, deployment),
    protocol: () => protocolOf(deployment),
    logScan: () => scanWith(AbortSignal.timeout(SCAN_TIMEOUT_MS)),
    share: (scan) =>
      shareScans(limit, (wallet, block, signal) => scan(scanWith(signal), wallet, rangeTo(block))),
  };
}
