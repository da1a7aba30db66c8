/** Reads policies from the logs of the policy manager, and their terms from the views of their shields. */
import { type Address, type Hex, zeroAddress } from "viem";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import type { BlockRange } from "../../../lib/chain/log-scan.ts";
import { findRevert, isEmptyAnswer } from "../../../lib/chain/reverts.ts";
import type { PolicyKey } from "../../../lib/chain/trigger.ts";
import type { Deployment } from "../../../lib/deployments.ts";
import { FEED_TO_PRICE } from "../../../lib/price-rules.ts";
import { catalogueOf } from "../../../lib/products.ts";
import type { CoverChain } from "./cover-chain.ts";
import type { Closing, CoverTerms, SoldPolicy } from "./history.ts";
import { scanEvents } from "./scan-events.ts";
import { SETTLED_DEPTH } from "./settled-logs.ts";

/** A sold policy, with the hash of the block of its purchase. */
export type FoundPolicy = SoldPolicy & { readonly soldInHash: Hex };

const BASIS_POINTS = 10_000n;
/** Policies whose terms are read at the same time: two calls each, a hundred calls in a request. */
const CHUNK = 200;

const closings = {
  PolicyTriggered: "triggered",
  PolicyExpired: "expired",
} as const;
const eventNames = ["PolicyCreated", "PolicyTriggered", "PolicyExpired"] as const;

const keyOf = ({ productId, policyId }: PolicyKey): string => `${productId} ${policyId}`;

/**
 * Every policy that was sold in the range, and what closed it in the range. Closings of policies that were sold earlier are left
 * out.
 * @throws as {@link scanEvents}
 */
export async function scanPolicies(chain: CoverChain, range: BlockRange): Promise<FoundPolicy[]> {
  const address = [chain.deployment.contracts.policyManager];
  const events = await scanEvents(chain, { abi: policyManagerAbi, names: eventNames, address }, range);
  const closed = new Map<string, Closing>();
  for (const { eventName, args, blockNumber: block, transactionHash: txHash } of events) {
    if (eventName !== "PolicyCreated") closed.set(keyOf(args), { by: closings[eventName], block, txHash });
  }
  return events.flatMap(({ eventName, args, blockNumber: soldIn, blockHash: soldInHash }) => {
    if (eventName !== "PolicyCreated") return [];
    const { productId, policyId, buyer, coverage, payout } = args;
    const closing = closed.get(keyOf(args));
    return [{ productId, policyId, buyer, coverage, payout, soldIn, soldInHash, closing }];
  });
}

/** What all policies of an adapter share. */
type ShieldViews = { readonly shield: Address; readonly feed: Address };

async function readShield({ clients: { reads } }: CoverChain, adapter: Address): Promise<ShieldViews> {
  const shield = await reads.readContract({
    address: adapter,
    abi: shieldAdapterAbi,
    functionName: "shield",
  });
  const feed = await reads.readContract({ address: shield, abi: flashShieldAbi, functionName: "priceFeed" });
  return { shield, feed };
}

/**
 * A policy's terms; undefined for a product that the catalogue lacks, because no contract tells its drop, and for a shield without
 * these views.
 * @throws when the chain has no such policy any more, or the node that answers does not have it yet
 */
async function readTerms(
  chain: CoverChain,
  shieldOf: (adapter: Address) => Promise<ShieldViews>,
  { productId, policyId }: PolicyKey,
): Promise<CoverTerms | undefined> {
  const { clients, deployment } = chain;
  const product = catalogueOf(deployment).find((entry) => entry.productId === productId);
  if (!product) return undefined;
  const args = [productId, policyId] as const;
  const manager = { address: deployment.contracts.policyManager, abi: policyManagerAbi, args } as const;
  const gone = () => new Error(`policy ${keyOf({ productId, policyId })} is not on the node's chain`);
  const { shield: adapter } = await clients.reads.readContract({ ...manager, functionName: "getPolicy" });
  // Behind one URL may be a node that is behind the one which gave the logs: it proves nothing about the shield.
  if (adapter === zeroAddress) throw gone();
  try {
    const { shield, feed } = await shieldOf(adapter);
    const [, , strike, coverFrom, endsAt] = await clients.reads.readContract({
      address: shield,
      abi: flashShieldAbi,
      functionName: "getPolicyInfo",
      args: [policyId],
    });
    if (endsAt === 0n) throw gone();
    const barrier = (strike * (BASIS_POINTS - BigInt(product.triggerDropBps))) / BASIS_POINTS;
    return { feed, triggerPrice: barrier * FEED_TO_PRICE, coverFrom, endsAt };
  } catch (error) {
    if (findRevert(error) || isEmptyAnswer(error)) return undefined;
    throw error;
  }
}

/** A policy with its terms; undefined where they are not known. */
export type TermedPolicy = FoundPolicy & { readonly terms: CoverTerms | undefined };

/**
 * Reads the terms of policies that were sold up to `last`, those that are not known yet. Rejects when the node does not answer, or
 * lacks one of the policies.
 */
export async function withTerms(
  chain: CoverChain,
  policies: readonly FoundPolicy[],
  last: bigint,
): Promise<TermedPolicy[]> {
  const shields = new Map<Address, Promise<ShieldViews>>();
  const shieldOf = (adapter: Address) => {
    const views = shields.get(adapter) ?? readShield(chain, adapter);
    shields.set(adapter, views);
    return views;
  };
  const complete = async (policy: FoundPolicy): Promise<TermedPolicy> => {
    const key = `${keyOf(policy)} ${policy.soldInHash}`;
    const known = chain.terms.get(key) ?? { terms: await readTerms(chain, shieldOf, policy) };
    // A node that is behind may lack a shield too: that a new policy's has no views is asked again.
    if (known.terms || policy.soldIn <= last - SETTLED_DEPTH) chain.terms.set(key, known);
    return { ...policy, terms: known.terms };
  };
  const termed: TermedPolicy[] = [];
  for (let start = 0; start < policies.length; start += CHUNK) {
    chain.signal.throwIfAborted();
    termed.push(...(await Promise.all(policies.slice(start, start + CHUNK).map(complete))));
  }
  return termed;
}

/** The longest cover of all products, in seconds. */
export const longestDuration = (deployment: Pick<Deployment, "products">): bigint =>
  BigInt(Math.max(...catalogueOf(deployment).map(({ durationSeconds }) => durationSeconds)));
