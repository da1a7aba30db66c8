/**
 * What subscribers must have been told, read from the chain's own logs, and the verdict on what they were: every event
 * of the wallet at least once under one id, nothing else without its `event_reverted`.
 */
import { isAddressEqual, parseEventLogs, zeroAddress } from "viem";
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { protocolTokenAbi } from "../../../abis/ProtocolToken.ts";
import { allTerms } from "../../../scripts/local/protocol/terms.ts";
import type { TestChain } from "../../support/chain.ts";
import { eventOf, type Received, type ReceivedEvent, wasTaken } from "../../support/receiver.ts";

/** An event of the chain; `ref` tells it from the others of its transaction. */
export type TrueEvent = {
  readonly type: string;
  readonly ref: string;
  /** For an expiry, which has no block of its own, all three are null. */
  readonly txHash: string | null;
  readonly blockHash: string | null;
  readonly logIndex: number | null;
  /** Of an expiry, the first block whose time has passed the end. */
  readonly blockNumber: bigint;
  /** In lower case; null where it concerns everybody. */
  readonly parties: readonly string[] | null;
};

export type Subscriber = {
  readonly wallet: string;
  readonly events: readonly string[];
  /** The chain's newest block when it subscribed. */
  readonly fromBlock: bigint;
  readonly requests: readonly Received[];
};

/** The same for an event as the chain tells it and as it was sent. */
export const keyOf = (event: {
  type: string;
  ref: string;
  txHash: string | null;
  blockHash: string | null;
}) =>
  event.type === "policy_expired"
    ? `${event.type} ${event.ref}`
    : `${event.type} ${event.ref} ${event.txHash} ${event.blockHash}`;

/** Every event of the chain as it is now, in its order, the expiries at the end. */
export async function eventsOnChain({ client, deployment }: TestChain): Promise<TrueEvent[]> {
  const { contracts } = deployment;
  const addresses = [
    contracts.coverRouter,
    contracts.policyManager,
    contracts.bondVault,
    contracts.marketplace,
    contracts.protocolToken,
  ];
  const logs = await client.getLogs({ address: addresses, fromBlock: 0n });
  const abis = [coverRouterAbi, policyManagerAbi, bondVaultAbi, bondMarketplaceAbi, protocolTokenAbi].flat();
  const buyers = new Map<string, string>();
  const events: TrueEvent[] = [];
  for (const log of parseEventLogs({ abi: abis, logs })) {
    const { address, blockNumber, blockHash, transactionHash: txHash, logIndex } = log;
    const note = (type: string, ref: string, parties: readonly string[] | null) =>
      events.push({
        ...{ type, ref, blockNumber, blockHash, txHash, logIndex },
        parties: parties?.map((party) => party.toLowerCase()) ?? null,
      });
    if (log.eventName === "Transfer") {
      const { to, value } = log.args;
      if (isAddressEqual(address, contracts.protocolToken) && to === zeroAddress)
        note("token_burned", `${value}`, null);
    } else if (log.eventName === "PolicyPurchased") {
      const ref = `${log.args.productId}/${log.args.policyId}`;
      buyers.set(ref, log.args.buyer);
      note("policy_purchased", ref, [log.args.buyer]);
    } else if (log.eventName === "PolicyTriggered") {
      note("policy_triggered", `${log.args.productId}/${log.args.policyId}`, [log.args.buyer]);
    } else if (log.eventName === "PolicyCancelled") {
      const ref = `${log.args.productId}/${log.args.policyId}`;
      note("policy_cancelled", ref, [buyers.get(ref) ?? "nobody"]);
    } else if (log.eventName === "BondIssued") {
      note("bond_minted", `${log.args.epochId}/${log.args.usdAmount}`, [log.args.to]);
    } else if (log.eventName === "BondQueued") {
      note("bond_queued", `${log.args.queueId}`, [log.args.holder]);
    } else if (log.eventName === "BondRedeemed" || log.eventName === "QueueProcessed") {
      note("bond_redeemed", `${log.args.tokenAmount}`, [log.args.holder]);
    } else if (log.eventName === "Listed") {
      note("listing_created", `${log.args.listingId}`, [log.args.seller]);
    } else if (log.eventName === "Bought") {
      note("listing_purchased", `${log.args.listingId}`, [log.args.seller, log.args.buyer]);
    } else if (log.eventName === "Cancelled" || log.eventName === "ListingEmergencyCancelled") {
      note("listing_cancelled", `${log.args.listingId}`, [log.args.seller]);
    }
  }
  return [...events, ...(await expiries({ client, deployment }, events))];
}

/** The policies whose end has passed: neither triggered nor cancelled. */
async function expiries(
  { client }: Pick<TestChain, "client" | "deployment">,
  events: readonly TrueEvent[],
): Promise<TrueEvent[]> {
  const closed = new Set(
    events.filter(({ type }) => /^policy_(triggered|cancelled)$/.test(type)).map(({ ref }) => ref),
  );
  const open = events.filter(({ type, ref }) => type === "policy_purchased" && !closed.has(ref));
  if (open.length === 0) return [];
  const head = await client.getBlock();
  const first = open[0]?.blockNumber ?? 0n;
  const numbers = Array.from({ length: Number(head.number - first) + 1 }, (_, n) => first + BigInt(n));
  const times = await Promise.all(
    numbers.map(async (blockNumber) => (await client.getBlock({ blockNumber })).timestamp),
  );
  return open.flatMap(({ ref, blockNumber, parties }) => {
    const terms = allTerms.find(({ productId }) => ref.startsWith(productId));
    const end = (times[Number(blockNumber - first)] ?? 0n) + BigInt(terms?.durationSeconds ?? 0);
    const passed = times.findIndex((time) => time > end);
    if (passed < 0) return [];
    const nowhere = { txHash: null, blockHash: null, logIndex: null };
    return [{ type: "policy_expired", ref, parties, blockNumber: first + BigInt(passed), ...nowhere }];
  });
}

const concerns = (event: TrueEvent, { wallet, events, fromBlock }: Subscriber): boolean =>
  event.blockNumber > fromBlock &&
  (event.parties === null || event.parties.includes(wallet.toLowerCase())) &&
  (events.includes("*") || events.includes(event.type));

/** The events of the chain that a subscriber must have been told. */
export const eventsOf = (truth: readonly TrueEvent[], subscriber: Subscriber): TrueEvent[] =>
  truth.filter((event) => concerns(event, subscriber));

function refOf({ type, data }: ReceivedEvent): string {
  if (type.startsWith("policy_")) return `${data.productId}/${data.policyId}`;
  if (type === "bond_minted") return `${data.bondId}/${data.amount}`;
  if (type === "bond_queued") return `${data.queueId}`;
  if (type.startsWith("listing_")) return `${data.listingId}`;
  return `${data.tokenAmount}`;
}
const keyOfReceived = (event: ReceivedEvent) => keyOf({ ...event, ref: refOf(event) });

/** What was told wrongly to a subscriber, in words; nothing when all is well. */
export function faultsOf(truth: readonly TrueEvent[], subscriber: Subscriber): string[] {
  const faults: string[] = [];
  const wanted = new Map(eventsOf(truth, subscriber).map((event) => [keyOf(event), event]));
  /** Ids under which each event arrived, and which of them were taken back. */
  const told = new Map<string, Set<string>>();
  const reverted = new Set<string>();
  const bodies = new Map<string, string>();
  for (const request of subscriber.requests) {
    const known = bodies.get(request.id) ?? request.body;
    if (known !== request.body) faults.push(`${request.id} has two bodies`);
    bodies.set(request.id, known);
    if (!wasTaken(request)) continue;
    const event = eventOf(request);
    if (event.id !== request.id) faults.push(`${request.id} carries ${event.id}`);
    if (event.type === "event_reverted") {
      reverted.add(String(event.data.eventId));
      continue;
    }
    if (reverted.has(event.id)) faults.push(`${event.id} was told again after it was taken back`);
    const key = keyOfReceived(event);
    told.set(key, (told.get(key) ?? new Set()).add(event.id));
  }
  for (const key of wanted.keys()) if (!told.has(key)) faults.push(`missing: ${key}`);
  for (const [key, ids] of told) {
    const standing = [...ids].filter((id) => !reverted.has(id));
    if (standing.length > (wanted.has(key) ? 1 : 0))
      faults.push(`${wanted.has(key) ? "told as two" : "not on the chain"}: ${key} ${standing.join()}`);
    if (standing.length === 0 && wanted.has(key)) faults.push(`taken back though it stands: ${key}`);
  }
  return faults;
}

/**
 * Where a subscriber's first attempts were not in the chain's order, in words: each event comes after all earlier ones of
 * the chain that were told and not taken back. Holds for receivers that let every connection in.
 */
export function disorderOf({ requests }: Subscriber, truth: readonly TrueEvent[]): string[] {
  const faults: string[] = [];
  const places = new Map(truth.map((event) => [keyOf(event), event]));
  const seen = new Set<string>();
  /** Block and log of what was told and stands. */
  const standing = new Map<string, { block: bigint; log: number }>();
  for (const request of requests) {
    if (seen.has(request.id)) continue;
    seen.add(request.id);
    const event = eventOf(request);
    if (event.type === "event_reverted") {
      standing.delete(String(event.data.eventId));
      continue;
    }
    const block = BigInt(event.blockNumber ?? 0);
    // Expiries come at the end of their block.
    const place = { block, log: places.get(keyOfReceived(event))?.logIndex ?? Number.POSITIVE_INFINITY };
    for (const [id, other] of standing) {
      const known = Number.isFinite(other.log) && Number.isFinite(place.log);
      if (other.block > block || (known && other.block === block && other.log > place.log))
        faults.push(`${event.type} of block ${block} came after ${id} of block ${other.block}`);
    }
    standing.set(event.id, place);
  }
  return faults;
}
