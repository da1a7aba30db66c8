import { bondVaultAbi } from "../../../abis/BondVault.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";

/** The throttle counts by weeks, floor(Unix seconds / 7 days). */
export const WEEK_SECONDS = 7n * 86_400n;

/** What redemptions may still take this week, and what is due before them. */
export type Throttle = {
  /** The week of the block. */
  readonly week: bigint;
  /** Protocol tokens that may still be paid this week, 18 decimals. */
  readonly left: bigint;
  /** Redemptions in the queue that are due this week and come first, in whole dollars. */
  readonly dueUsd: bigint;
};

/** Reads the redemption throttle at a block. Rejects when the node does not answer. */
export async function readThrottle(
  chain: ReadClient,
  { bondVault }: Contracts,
  { number: blockNumber, timestamp }: { readonly number: bigint; readonly timestamp: bigint },
): Promise<Throttle> {
  const vault = { address: bondVault, abi: bondVaultAbi, blockNumber } as const;
  const [left, throttleEpoch, queued, queuedThisEpoch] = await Promise.all([
    chain.readContract({ ...vault, functionName: "throttleLeft" }),
    chain.readContract({ ...vault, functionName: "throttleEpoch" }),
    chain.readContract({ ...vault, functionName: "queuedUsd" }),
    chain.readContract({ ...vault, functionName: "queuedThisEpochUsd" }),
  ]);
  const week = timestamp / WEEK_SECONDS;
  return { week, left, dueUsd: throttleEpoch === week ? queued - queuedThisEpoch : queued };
}
