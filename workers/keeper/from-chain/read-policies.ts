/** Reads policies from the logs of the policy manager and of the shields: no view of a policy. */
import { type Address, type Hex, stringToHex } from "viem";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import type { BlockRange } from "../../../lib/chain/log-scan.ts";
import { findRevert, isEmptyAnswer } from "../../../lib/chain/reverts.ts";
import { type Registration, sellingAdapters } from "../../../lib/chain/selling-adapters.ts";
import type { Deployment } from "../../../lib/deployments.ts";
import { lower } from "../../../lib/lower.ts";
import { barrierOf } from "../../../lib/price-rules.ts";
import { catalogueOf, isSameProduct } from "../../../lib/products.ts";
import type { CoverChain } from "./cover-chain.ts";
import type { Closing, CoveredPolicy, CoverTerms, Observation, SoldPolicy } from "./history.ts";
import { scanEvents } from "./scan-events.ts";

const RESET = stringToHex("RESET", { size: 32 });

/** An adapter's shield and its price feed; addresses in lower case. */
export type ShieldViews = { readonly shield: Address; readonly feed: Address };
type Shield = Registration & ShieldViews;

/** Undefined for an adapter without these views. */
async function readShield(
  { clients: { reads }, shields }: CoverChain,
  adapter: Address,
): Promise<ShieldViews | undefined> {
  const known = shields.get(adapter);
  if (known) return known;
  try {
    const views = { address: adapter, abi: shieldAdapterAbi, functionName: "shield" } as const;
    const shield = lower(await reads.readContract(views));
    const feed = await reads.readContract({
      address: shield,
      abi: flashShieldAbi,
      functionName: "priceFeed",
    });
    const read = { shield, feed: lower(feed) };
    shields.set(adapter, read);
    return read;
  } catch (error) {
    // Asked again at the next look: behind one URL may be a node that does not have it yet.
    if (findRevert(error) || isEmptyAnswer(error)) return undefined;
    throw error;
  }
}

/** The shields of all adapters that products were ever registered with, and of those with which they are sold. */
async function findShields(chain: CoverChain, to: bigint): Promise<Shield[]> {
  const { deployment, clients } = chain;
  const { policyManager } = deployment.contracts;
  const filter = { abi: policyManagerAbi, names: ["ProductRegistered"], address: [policyManager] } as const;
  const [selling, registered] = await Promise.all([
    sellingAdapters(clients.reads, deployment.contracts),
    scanEvents(chain, filter, { from: BigInt(deployment.startBlock), to }),
  ]);
  const all = [
    ...selling,
    ...registered.map(({ args }) => ({ productId: args.productId, adapter: args.shield })),
  ];
  const productOf = new Map(all.map(({ productId, adapter }) => [lower(adapter), productId]));
  const found = await Promise.all(
    [...productOf].map(async ([adapter, productId]) => {
      const views = await readShield(chain, adapter);
      return views && { productId, adapter, ...views };
    }),
  );
  return found.filter((shield) => shield !== undefined);
}

/** What shields logged of policies. */
type ShieldLogs = {
  /** By the transaction of the purchase, product and id. */
  readonly covers: ReadonlyMap<string, { readonly adapter: Address; readonly terms: CoverTerms }>;
  /** By adapter and id. */
  readonly observations: ReadonlyMap<string, readonly Observation[]>;
};

/** Covers of products that the catalogue lacks are left out, because no contract tells their drop. */
async function scanShields(chain: CoverChain, range: BlockRange): Promise<ShieldLogs> {
  const shields = await findShields(chain, range.to);
  const events = await scanEvents(
    chain,
    {
      abi: flashShieldAbi,
      names: ["PolicyCreated", "ConfirmationObserved", "PolicyVerified"],
      address: shields.map(({ shield }) => shield),
    },
    range,
  );
  const catalogue = catalogueOf(chain.deployment);
  const covers = new Map<string, { adapter: Address; terms: CoverTerms }>();
  const observations = new Map<string, Observation[]>();
  for (const { eventName, args, address, blockNumber: block, logIndex, transactionHash: txHash } of events) {
    const source = shields.find(({ shield }) => shield === lower(address));
    const product = source && catalogue.find(isSameProduct(source.productId));
    if (!source || !product) continue;
    const { adapter, productId, feed } = source;
    const { policyId } = args;
    if (eventName === "PolicyCreated") {
      const barrier = barrierOf(args.strikePrice, product.triggerDropBps);
      const terms = { feed, barrier, startsAt: args.startTimestamp, endsAt: args.expiresAt };
      covers.set(`${txHash} ${productId} ${policyId}`, { adapter, terms });
    } else if (eventName === "ConfirmationObserved" || args.reason === RESET) {
      const count = eventName === "ConfirmationObserved" ? args.count : 0;
      const key = `${adapter} ${policyId}`;
      observations.set(key, [...(observations.get(key) ?? []), { block, logIndex, count, txHash }]);
    }
  }
  return { covers, observations };
}

type Sold = Omit<SoldPolicy, "closing"> & { readonly txHash: Hex; closing: Closing | undefined };

/** Every policy that was sold in the range, and what closed it in the range: a key that comes again, the policy before. */
async function scanManager(chain: CoverChain, range: BlockRange): Promise<Sold[]> {
  const address = [chain.deployment.contracts.policyManager];
  const names = ["PolicyCreated", "PolicyTriggered", "PolicyExpired"] as const;
  const sold: Sold[] = [];
  const newest = new Map<string, Sold>();
  for (const { eventName, args, blockNumber: block, transactionHash: txHash } of await scanEvents(
    chain,
    { abi: policyManagerAbi, names, address },
    range,
  )) {
    const { productId, policyId } = args;
    const key = `${productId} ${policyId}`;
    const before = newest.get(key);
    if (eventName === "PolicyCreated") {
      if (before) before.closing ??= { by: "replaced", block };
      const { buyer, coverage, payout } = args;
      const policy = {
        productId,
        policyId,
        buyer: lower(buyer),
        coverage,
        payout,
        soldIn: block,
        txHash,
        closing: undefined,
      };
      newest.set(key, policy);
      sold.push(policy);
    } else if (before)
      before.closing = { by: eventName === "PolicyTriggered" ? "triggered" : "expired", block };
  }
  return sold;
}

/**
 * Every policy that was sold in the range, with what its shield logged and what closed it in the range; `unknown` are those of
 * products that the catalogue lacks, or of unknown shields.
 * @throws as {@link scanEvents}; also rejects when the node does not answer
 */
export async function scanPolicies(
  chain: CoverChain,
  range: BlockRange,
): Promise<{ policies: CoveredPolicy[]; unknown: SoldPolicy[] }> {
  const [sold, { covers, observations }] = await Promise.all([
    scanManager(chain, range),
    scanShields(chain, range),
  ]);
  const policies: CoveredPolicy[] = [];
  const unknown: SoldPolicy[] = [];
  for (const { txHash, ...policy } of sold) {
    const { productId, policyId } = policy;
    const cover = covers.get(`${txHash} ${productId} ${policyId}`);
    if (!cover) unknown.push(policy);
    else {
      const own = observations.get(`${cover.adapter} ${policyId}`) ?? [];
      policies.push({ ...policy, ...cover, observations: own });
    }
  }
  return { policies, unknown };
}

/** The longest cover of all products, in seconds. */
export const longestDuration = (deployment: Pick<Deployment, "products">): bigint =>
  BigInt(Math.max(...catalogueOf(deployment).map(({ durationSeconds }) => durationSeconds)));
