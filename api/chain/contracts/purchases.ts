/** A wallet's purchases, from the router's logs. */
import { type Address, encodeEventTopics, formatLog, type Hex, parseEventLogs, type RpcLog } from "viem";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { type BlockRange, type LogScan, LogScanError, scanLogs } from "../../../lib/chain/log-scan.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import type { PolicyKey } from "./policy.ts";

/** A purchase in the router's logs; amounts have 6 decimals. */
export type Purchase = PolicyKey & {
  readonly coverage: bigint;
  readonly premium: bigint;
  readonly payout: bigint;
  readonly blockNumber: bigint;
  readonly logIndex: number;
  readonly txHash: Hex;
};

/** Decodes the logs. @throws LogScanError for a log of another event, which would be missing in the answer */
function decode(logs: readonly RpcLog[]) {
  const rows = logs.map((log) => formatLog(log));
  const events = parseEventLogs({ abi: coverRouterAbi, eventName: "PolicyPurchased", logs: rows });
  if (events.length !== logs.length) throw new LogScanError("a log is not a PolicyPurchased");
  return events;
}

/**
 * Every purchase of a buyer in the range, newest first. It reads the router's `PolicyPurchased`, because `PolicyCreated` of
 * the policy manager does not index the buyer.
 * @throws as `scanLogs`
 */
export async function scanPurchases(
  scan: LogScan,
  { coverRouter: address }: Contracts,
  buyer: Address,
  range: BlockRange,
): Promise<Purchase[]> {
  const purchases: Purchase[] = [];
  const topics = encodeEventTopics({ abi: coverRouterAbi, eventName: "PolicyPurchased", args: { buyer } });
  await scanLogs(scan, { address, topics }, range, (logs) => {
    for (const { args, blockNumber, logIndex, transactionHash } of decode(logs)) {
      const { productId, policyId, coverage, premium, payout } = args;
      const policy = { productId, policyId, coverage, premium, payout };
      purchases.push({ ...policy, blockNumber, logIndex, txHash: transactionHash });
    }
  });
  return purchases.sort((a, b) => (isBefore(a, b) ? 1 : -1));
}

type Position = Pick<Purchase, "blockNumber" | "logIndex">;

/** Whether a policy has this key, in the spelling of logs. */
export const isSameKey = (key: PolicyKey) => (other: PolicyKey) =>
  other.policyId === key.policyId && other.productId === key.productId;

/** True when `a` comes before `b` in the chain. */
export const isBefore = (a: Position, b: Position): boolean =>
  a.blockNumber === b.blockNumber ? a.logIndex < b.logIndex : a.blockNumber < b.blockNumber;
