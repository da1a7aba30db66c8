/**
 * Derives the expected events of a subscriber from the chain's logs, and compares them with its requests: it must have each
 * event at least once under one id, and `event_reverted` for every event that is not on the chain.
 */
import { isAddressEqual, parseEventLogs, zeroAddress } from "viem";
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { protocolTokenAbi } from "../../../abis/ProtocolToken.ts";
import { allTerms } from "../../../scripts/local/protocol/terms.ts";
import type { TestChain } from "../../support/chain.ts";
import { dueOnChain } from "../../support/due-on-chain.ts";
import { eventOf, type Received, type ReceivedEvent, wasTaken } from "../../support/receiver.ts";

/** An event of the chain; `ref` distinguishes it from others of its transaction. */
export type TrueEvent = {
  readonly type: string;
  readonly ref: string;
  /** Null for an expiry, which has no log, like its `logIndex`. */
  readonly txHash: string | null;
  readonly blockHash: string;
  readonly logIndex: number | null;
  /** For an expiry the first block after the end of the cover. */
  readonly blockNumber: bigint;
  /** In lower case; null for a burn, which concerns every subscription that names burns. */
  readonly parties: readonly string[] | null;
};

export type Subscriber = {
  readonly wallet: string;
  readonly events: readonly string[];
  /** The newest block at its creation. */
  readonly fromBlock: bigint;
  readonly requests: readonly Received[];
};

/** Equal for an event of the chain and the sent event. */
export const keyOf = (event: {
  type: string;
  ref: string;
  txHash: string | null;
  blockHash: string | null;
}) => `${event.type} ${event.ref} ${event.txHash} ${event.blockHash}`;

/** Every event of the present chain, in chain order, with the expiries at the end. */
export async function eventsOnChain(chain: TestChain): Promise<TrueEvent[]> {
  const { client, deployment } = chain;
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
  /** Entries of the redemption queue so far, by week. */
  const queued = new Map<bigint, bigint>();
  const events: TrueEvent[] = [];
  const paid = parseEventLogs({ abi: policyManagerAbi, logs, eventName: "PolicyTriggered" });
  for (const log of parseEventLogs({ abi: abis, logs })) {
    const { address, blockNumber, blockHash, transactionHash: txHash, logIndex } = log;
    const add = (type: string, ref: string, parties: readonly string[] | null) =>
      events.push({
        ...{ type, ref, blockNumber, blockHash, txHash, logIndex },
        parties: parties?.map((party) => party.toLowerCase()) ?? null,
      });
    if (log.eventName === "Transfer") {
      const { to, value } = log.args;
      if (isAddressEqual(address, contracts.protocolToken) && to === zeroAddress)
        add("token_burned", `${value}`, null);
    } else if (log.eventName === "PolicyPurchased") {
      add("policy_purchased", `${log.args.productId}/${log.args.policyId}`, [log.args.buyer]);
    } else if (log.eventName === "PolicyTriggered") {
      add("policy_triggered", `${log.args.productId}/${log.args.policyId}`, [log.args.buyer]);
    } else if (log.eventName === "BondIssued") {
      // One transaction may pay several policies of a holder: each bond comes before its policy.
      const { to } = log.args;
      const policy = paid.find(
        (other) =>
          other.transactionHash === txHash &&
          other.logIndex > logIndex &&
          isAddressEqual(other.args.buyer, to),
      )?.args;
      add("bond_minted", `${policy?.productId}/${policy?.policyId}`, [to]);
    } else if (log.eventName === "BondQueued") {
      const week = log.args.targetThrottleEpoch;
      const place = queued.get(week) ?? 0n;
      queued.set(week, place + 1n);
      add("bond_queued", `${week * 10_000n + place}`, [log.args.holder]);
    } else if (log.eventName === "BondRedeemed") {
      add("bond_redeemed", `${log.args.luminaAmount}`, [log.args.holder]);
    } else if (log.eventName === "Listed") {
      add("listing_created", `${log.args.listingId}`, [log.args.seller]);
    } else if (log.eventName === "Bought") {
      add("listing_purchased", `${log.args.listingId}`, [log.args.seller, log.args.buyer]);
    } else if (log.eventName === "Cancelled") {
      add("listing_cancelled", `${log.args.listingId}`, [log.args.seller]);
    }
  }
  for (const due of await dueOnChain(chain)) {
    const { productId, policyId, buyer, transactionHash: txHash, ...log } = due;
    const ref = `${productId}/${policyId}`;
    events.push({ ...log, type: "policy_due", ref, txHash, parties: [buyer.toLowerCase()] });
  }
  events.sort((a, b) => Number(a.blockNumber - b.blockNumber) || (a.logIndex ?? 0) - (b.logIndex ?? 0));
  return [...events, ...(await expiries(chain, events))];
}

/** The expiries: policies past their end that were not triggered. */
async function expiries(
  { client }: Pick<TestChain, "client" | "deployment">,
  events: readonly TrueEvent[],
): Promise<TrueEvent[]> {
  const closed = new Set(events.filter(({ type }) => type === "policy_triggered").map(({ ref }) => ref));
  const open = events.filter(({ type, ref }) => type === "policy_purchased" && !closed.has(ref));
  if (open.length === 0) return [];
  const head = await client.getBlock();
  const first = open[0]?.blockNumber ?? 0n;
  const numbers = Array.from({ length: Number(head.number - first) + 1 }, (_, n) => first + BigInt(n));
  const blocks = await Promise.all(numbers.map((blockNumber) => client.getBlock({ blockNumber })));
  return open.flatMap(({ ref, blockNumber, parties }) => {
    const terms = allTerms.find(({ productId }) => ref.startsWith(productId));
    const start = blocks[Number(blockNumber - first)]?.timestamp ?? 0n;
    const block = blocks.find(({ timestamp }) => timestamp > start + BigInt(terms?.durationSeconds ?? 0));
    if (!block) return [];
    const place = { blockNumber: block.number, blockHash: block.hash, txHash: null, logIndex: null };
    return [{ type: "policy_expired", ref, parties, ...place }];
  });
}

const concerns = (event: TrueEvent, { wallet, events, fromBlock }: Subscriber): boolean =>
  event.blockNumber > fromBlock &&
  (events.includes(event.type) ||
    // All of the own wallet's.
    (events.includes("*") && event.parties !== null)) &&
  (event.parties === null || event.parties.includes(wallet.toLowerCase()));

/** The events of the chain that a subscriber must receive. */
export const eventsOf = (truth: readonly TrueEvent[], subscriber: Subscriber): TrueEvent[] =>
  truth.filter((event) => concerns(event, subscriber));

function refOf({ type, data }: ReceivedEvent): string {
  if (type.startsWith("policy_") || type === "bond_minted") return `${data.productId}/${data.policyId}`;
  if (type === "bond_queued") return `${data.queueId}`;
  if (type.startsWith("listing_")) return `${data.listingId}`;
  return `${data.tokenAmount}`;
}
const keyOfReceived = (event: ReceivedEvent) => keyOf({ ...event, ref: refOf(event) });

/** Describes what is wrong with a subscriber's requests; empty when nothing is. */
export function faultsOf(truth: readonly TrueEvent[], subscriber: Subscriber): string[] {
  const faults: string[] = [];
  const wanted = new Map(eventsOf(truth, subscriber).map((event) => [keyOf(event), event]));
  /** The ids of each received event, and the ids that were reverted. */
  const received = new Map<string, Set<string>>();
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
    if (reverted.has(event.id)) faults.push(`${event.id} was sent again after its reversal`);
    const key = keyOfReceived(event);
    received.set(key, (received.get(key) ?? new Set()).add(event.id));
  }
  for (const key of wanted.keys()) if (!received.has(key)) faults.push(`missing: ${key}`);
  for (const [key, ids] of received) {
    const valid = [...ids].filter((id) => !reverted.has(id));
    if (valid.length > (wanted.has(key) ? 1 : 0))
      faults.push(`${wanted.has(key) ? "sent under two ids" : "not on the chain"}: ${key} ${valid.join()}`);
    if (valid.length === 0 && wanted.has(key)) faults.push(`reverted though on the chain: ${key}`);
  }
  return faults;
}

/**
 * Describes where a subscriber's first attempts were not in chain order: each event must come after all earlier valid ones.
 * Applies to receivers that accept every connection. `timedOut` has the ids of events with an attempt that got no answer in
 * time: the ones behind them need not wait, and nobody knows when such a request arrives.
 */
export function orderFaultsOf(
  { requests }: Subscriber,
  truth: readonly TrueEvent[],
  timedOut: ReadonlySet<string>,
): string[] {
  const faults: string[] = [];
  const exempt = new Set(timedOut);
  for (const request of requests) {
    const { id, type, data } = eventOf(request);
    if (timedOut.has(id) && type === "event_reverted") exempt.add(String(data.eventId));
  }
  const byKey = new Map(truth.map((event) => [keyOf(event), event]));
  const seen = new Set<string>();
  /** Block and log of the received events that are not reverted. */
  const valid = new Map<string, { block: bigint; log: number }>();
  for (const request of requests) {
    if (seen.has(request.id)) continue;
    seen.add(request.id);
    const event = eventOf(request);
    if (exempt.has(event.id)) continue;
    if (event.type === "event_reverted") {
      valid.delete(String(event.data.eventId));
      continue;
    }
    const block = BigInt(event.blockNumber ?? 0);
    // Expiries come last in their block.
    const position = { block, log: byKey.get(keyOfReceived(event))?.logIndex ?? Number.POSITIVE_INFINITY };
    for (const [id, other] of valid) {
      const known = Number.isFinite(other.log) && Number.isFinite(position.log);
      if (other.block > block || (known && other.block === block && other.log > position.log))
        faults.push(`${event.type} of block ${block} came after ${id} of block ${other.block}`);
    }
    valid.set(event.id, position);
  }
  return faults;
}
