/** Reads replaced policies from logs. A product's new adapter gives their keys to newer policies, which overwrite the manager's records. */
import { type Address, encodeEventTopics, formatLog, parseEventLogs, type RpcLog, zeroAddress } from "viem";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import { type LogScan, scanLogs } from "../../../lib/chain/log-scan.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { type ChainPolicy, pricesOf } from "./policy.ts";
import type { Protocol } from "./products.ts";
import { isBefore, isSameKey, type Purchase } from "./purchases.ts";

const [PURCHASED] = encodeEventTopics({ abi: coverRouterAbi, eventName: "PolicyPurchased" });
const [TRIGGERED] = encodeEventTopics({ abi: policyManagerAbi, eventName: "PolicyTriggered" });
const keyEvents = [...coverRouterAbi, ...policyManagerAbi];

/**
 * Those of the replaced policies that were paid before their key came again: the next event of their key is the trigger, not
 * another purchase.
 * @throws as `scanLogs`
 */
export async function scanTriggered(
  scan: LogScan,
  { coverRouter, policyManager }: Contracts,
  replaced: readonly Purchase[],
  to: bigint,
): Promise<ReadonlySet<Purchase>> {
  const [first] = replaced.toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
  if (!first) return new Set();
  const productId = replaced.map((key) => key.productId);
  const policyId = replaced.map((key) => key.policyId);
  const [, productIds = null, policyIds = null] = encodeEventTopics({
    abi: coverRouterAbi,
    eventName: "PolicyPurchased",
    args: { productId, policyId },
  });
  const filter = {
    address: [coverRouter, policyManager],
    topics: [[PURCHASED, TRIGGERED], productIds, policyIds],
  };
  const found: RpcLog[] = [];
  await scanLogs(scan, filter, { from: first.blockNumber, to }, (logs) => found.push(...logs));
  const events = parseEventLogs({
    abi: keyEvents,
    eventName: ["PolicyPurchased", "PolicyTriggered"],
    logs: found.map((log) => formatLog(log)),
  }).sort((a, b) => (isBefore(a, b) ? -1 : 1));
  const next = (purchase: Purchase) =>
    events.find((event) => isBefore(purchase, event) && isSameKey(purchase)(event.args));
  return new Set(replaced.filter((purchase) => next(purchase)?.eventName === "PolicyTriggered"));
}

/** A policy's adapter, strike (8 decimals) and end, from what its shield logged in the purchase. */
async function readCover(chain: ReadClient, { txHash, policyId, logIndex }: Purchase) {
  const { logs } = await chain.getTransactionReceipt({ hash: txHash });
  const covers = parseEventLogs({ abi: flashShieldAbi, eventName: "PolicyCreated", logs });
  // A transaction may buy several policies with one id: a purchase's own cover is the last one before its log.
  const cover = covers.findLast((log) => log.args.policyId === policyId && log.logIndex < logIndex);
  if (!cover) return undefined;
  const { strikePrice: strike, expiresAt } = cover.args;
  const shield = { address: cover.address, abi: flashShieldAbi } as const;
  return { adapter: await chain.readContract({ ...shield, functionName: "router" }), strike, expiresAt };
}

/**
 * A replaced policy, from its logs; as in the index, one without a shield's log has no shield (the zero address) and ends with
 * its purchase. Rejects when the node does not answer.
 */
export async function readReplacedPolicy(
  chain: ReadClient,
  protocol: Protocol,
  buyer: Address,
  purchase: Purchase,
  triggered: boolean,
): Promise<ChainPolicy> {
  const { productId, policyId, coverage, payout, premium, blockNumber } = purchase;
  const [cover, { timestamp: createdAt }] = await Promise.all([
    readCover(chain, purchase),
    chain.getBlock({ blockNumber }),
  ]);
  return {
    ...{ productId, policyId, buyer, coverage, payout, premium, createdAt, triggered },
    shield: cover?.adapter ?? zeroAddress,
    expiresAt: cover?.expiresAt ?? createdAt,
    ...(cover ? pricesOf(protocol, productId, cover.strike) : { strike: null, triggerPrice: null }),
    ...{ priceSnapshot: 0n, triggeredAt: null, bondEpochId: null },
  };
}
