/** Reads policies from the logs of the policy manager and of the shields: no view of a policy. */
import {
  type Abi,
  type Address,
  type ContractEventName,
  formatLog,
  type Hex,
  type Log,
  type ParseEventLogsReturnType,
  parseEventLogs,
  type RpcLog,
  stringToHex,
  toEventSelector,
} from "viem";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import {
  type BlockRange,
  type LogFilter,
  type LogScan,
  LogScanError,
  scanLogs,
} from "../../../lib/chain/log-scan.ts";
import { findRevert, isEmptyAnswer } from "../../../lib/chain/reverts.ts";
import { type Registration, sellingAdapters } from "../../../lib/chain/selling-adapters.ts";
import type { Deployment } from "../../../lib/deployments.ts";
import { lower } from "../../../lib/lower.ts";
import { barrierOf } from "../../../lib/price-rules.ts";
import { catalogueOf, isSameProduct } from "../../../lib/products.ts";
import { greater, smaller } from "../../common/bigints.ts";
import type { CoverChain } from "./cover-chain.ts";
import type { Closing, CoveredPolicy, CoverTerms, Observation, SoldPolicy } from "./history.ts";

/**
 * The logs of these events of these contracts, in the order of the chain. Without an address it reads nothing.
 * @throws LogScanError when a window of logs could not be read, or when a log does not fit its event; the signal's reason
 */
export async function scanEvents<const abi extends Abi, const name extends ContractEventName<abi>>(
  { clients, window, signal, settled }: CoverChain,
  { abi, names, address }: { abi: abi; names: readonly name[]; address: readonly Address[] },
  range: BlockRange,
): Promise<ParseEventLogsReturnType<abi, name[], true>> {
  const wanted: readonly string[] = names;
  const selectors = abi.flatMap((item) =>
    item.type === "event" && wanted.includes(item.name) ? [toEventSelector(item)] : [],
  );
  const logScan = { client: clients.logs, reads: clients.reads, window, signal, settled };
  const logs = address.length === 0 ? [] : await readLogs(logScan, { address, topics: [selectors] }, range);
  const events = parseEventLogs<abi, true, name[]>({ abi, eventName: [...names], logs });
  if (events.length !== logs.length) throw new LogScanError("a log does not fit its event");
  return events;
}

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

/** A block so far below the end of a scan is kept. A reorganisation that is deeper is noticed, and all is read anew. */
export const SETTLED_DEPTH = 64n;

/** All logs of a filter in a range, in the order of the chain, and the hash of the range's last block. */
type Settled = {
  readonly range: BlockRange;
  readonly hash: Hex;
  readonly logs: readonly Log<bigint, number, false>[];
};

/** The kept logs, by filter. */
export type SettledLogs = Map<string, Settled>;

type MinedLog = Settled["logs"][number];

const inRange =
  ({ from, to }: BlockRange) =>
  ({ blockNumber }: MinedLog): boolean =>
    blockNumber >= from && blockNumber <= to;

const compare = (a: MinedLog, b: MinedLog): number =>
  Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex;

const isMined = (log: Log): log is MinedLog => log.blockNumber !== null && log.logIndex !== null;

async function scan(logScan: LogScan, filter: LogFilter, range: BlockRange): Promise<MinedLog[]> {
  const found: RpcLog[] = [];
  await scanLogs(logScan, filter, range, (logs) => {
    // Not by spreading: a window may have more logs than a call may have arguments.
    for (const log of logs) found.push(log);
  });
  return found
    .map((log) => formatLog(log))
    .filter(isMined)
    .sort(compare);
}

/** The kept logs of a filter that the chain still has and that adjoin the range. */
async function stillKept(
  reads: ReadClient,
  settled: Settled | undefined,
  { from, to }: BlockRange,
): Promise<Settled | undefined> {
  if (!settled || settled.range.to + 1n < from || settled.range.from > to + 1n) return undefined;
  const block = await reads.getBlock({ blockNumber: settled.range.to }).catch(() => undefined);
  return block?.hash === settled.hash ? settled : undefined;
}

/**
 * All logs of a filter in a range, in the order of the chain; those of deep blocks that were read before are not read again.
 * Keeps at most twice as many blocks as the range has.
 * @throws as `scanLogs`
 */
export async function readLogs(
  logScan: LogScan & { readonly reads: ReadClient; readonly settled: SettledLogs },
  filter: LogFilter,
  range: BlockRange,
): Promise<MinedLog[]> {
  const { reads, settled } = logScan;
  const { from, to } = range;
  if (from > to) return [];
  const name = JSON.stringify([filter.address, filter.topics]);
  const kept = await stillKept(reads, settled.get(name), range);
  const last = to - SETTLED_DEPTH;
  // Before the scan: if a reorganisation replaces the block meanwhile, the hash does not fit the next time.
  const hash = last >= from ? (await reads.getBlock({ blockNumber: last })).hash : undefined;
  if (!kept) {
    const logs = await scan(logScan, filter, range);
    const keep = { from, to: last };
    if (hash) settled.set(name, { range: keep, hash, logs: logs.filter(inRange(keep)) });
    return logs;
  }
  const before = await scan(logScan, filter, { from, to: kept.range.from - 1n });
  const after = await scan(logScan, filter, { from: kept.range.to + 1n, to });
  const logs = [...before, ...kept.logs, ...after];
  if (hash && last > kept.range.to) {
    const keep = { from: greater(smaller(from, kept.range.from), from - (to - from)), to: last };
    settled.set(name, { range: keep, hash, logs: logs.filter(inRange(keep)) });
  }
  return logs.filter(inRange(range));
}
