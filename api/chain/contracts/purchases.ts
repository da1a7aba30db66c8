/** A wallet's purchases, and products' names, from the router's log. */
import { type Address, encodeEventTopics, formatLog, type Hex, parseEventLogs, type RpcLog } from "viem";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { productIdOf } from "../../../lib/products.ts";
import { type BlockRange, type LogScan, LogScanError, scanLogs } from "../log-scan.ts";
import type { PolicyKey } from "./policy.ts";

/** A purchase, as the router's log tells it. */
export type Purchase = PolicyKey & {
  readonly blockNumber: bigint;
  readonly logIndex: number;
  readonly txHash: Hex;
};

/** Decodes logs of one event, all of them: one that were passed over would be missing in the answer. */
function decode<const Name extends "PolicyPurchased" | "ProductTermsSet">(
  eventName: Name,
  logs: readonly RpcLog[],
) {
  const rows = logs.map((log) => formatLog(log));
  const events = parseEventLogs({ abi: coverRouterAbi, eventName, logs: rows });
  if (events.length !== logs.length) throw new LogScanError(`a log is no ${eventName}`);
  return events;
}

/**
 * Every purchase of a buyer in the range, newest first. `PolicyCreated` of the policy manager does not have its buyer
 * indexed and is not looked for: the router logs each purchase beside it.
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
    for (const { args, blockNumber, logIndex, transactionHash } of decode("PolicyPurchased", logs)) {
      const { productId, policyId } = args;
      purchases.push({ productId, policyId, blockNumber, logIndex, txHash: transactionHash });
    }
  });
  return purchases.sort((a, b) => (isBefore(a, b) ? 1 : -1));
}

type Position = Pick<Purchase, "blockNumber" | "logIndex">;

/** True when `a` stands before `b` in the chain. */
export const isBefore = (a: Position, b: Position): boolean =>
  a.blockNumber === b.blockNumber ? a.logIndex < b.logIndex : a.blockNumber < b.blockNumber;

/**
 * The names of these products, as far as the log tells them; a name that is not its id's preimage is none.
 * @throws as `scanLogs`
 */
export async function scanProductNames(
  scan: LogScan,
  { coverRouter: address }: Contracts,
  productIds: readonly Hex[],
  range: BlockRange,
): Promise<Map<Hex, string>> {
  const names = new Map<Hex, string>();
  const args = { productId: [...productIds] };
  const topics = encodeEventTopics({ abi: coverRouterAbi, eventName: "ProductTermsSet", args });
  await scanLogs(scan, { address, topics }, range, (logs) => {
    for (const { args: terms } of decode("ProductTermsSet", logs)) {
      if (productIdOf(terms.name) === terms.productId) names.set(terms.productId, terms.name);
    }
  });
  return names;
}
