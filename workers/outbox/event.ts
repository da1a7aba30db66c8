import type { Address, Hex } from "viem";
import {
  BODY_VERSION,
  type EventBody,
  type EventData,
  type EventType,
  eventId,
} from "../../lib/webhooks/events.ts";

/** A block of the chain; the timestamp in Unix seconds. */
export type Block = { readonly number: bigint; readonly hash: Hex; readonly timestamp: bigint };

/** Events that a log or the time of a block causes; release V5.4 cancels no policy. */
export type ChainEventType = Exclude<EventType, "event_reverted" | "policy_cancelled">;
/** Events with a row of their own in the index, at their log. */
export type LogEventType = Exclude<ChainEventType, "policy_expired" | "policy_due">;

/** An event of the chain, before it is stored. */
export type ChainEvent = {
  readonly type: ChainEventType;
  readonly block: Block;
  /** Null for an expiry, which no transaction causes. */
  readonly log: { readonly index: number; readonly txHash: Hex } | null;
  /** The same for the same log, or for the same policy where it expires or becomes due, whenever it is indexed. */
  readonly key: string;
  /** Counts the events of this key: above 1 when a reverted event happens again, or a policy's key comes again. */
  readonly occurrence: number;
  /** Wallets in lower case, without duplicates. */
  readonly parties: readonly Address[];
  readonly data: EventData[ChainEventType];
};

/** A new row of `service.event`; `reverts` is the `seq` of the event that it reverts. */
export type EventRow = {
  readonly id: string;
  readonly key: string;
  readonly occurrence: number;
  readonly type: EventType;
  readonly block_number: string;
  readonly block_hash: Hex;
  readonly tx_hash: Hex | null;
  readonly log_index: number | null;
  readonly parties: readonly Address[];
  readonly body: string;
  readonly reverts: string | null;
  /** Whether any wallet's subscription may receive it, so that its deliveries are created in batches. */
  readonly forAnyWallet: boolean;
};

/** A stored event that a reorganisation may revert; `seq` and `blockNumber` are decimals. */
export type StoredEvent = {
  readonly seq: string;
  readonly id: string;
  readonly type: ChainEventType;
  readonly blockNumber: string;
  readonly blockHash: Hex;
  readonly txHash: Hex | null;
  readonly logIndex: number | null;
  readonly parties: readonly Address[];
  readonly body: string;
  /** Whether the index has the event: that of an expiry is checked all the same, because its block has no row. */
  readonly indexed: boolean;
};

/** The body that subscribers receive, byte for byte. */
const bodyOf = ({ id, type, ...rest }: Omit<EventBody, "version" | "data"> & { data: object }) =>
  JSON.stringify({ id, type, version: BODY_VERSION, ...rest });

/** The timestamp of a block, ISO 8601. */
const timeOf = ({ timestamp }: Block) => new Date(Number(timestamp) * 1000).toISOString();

/**
 * What an event's id is made of. A policy becomes due and expires once: its key names no block, so that no second log makes it due
 * again. The id does: a later policy may have the same key, also when this event has been deleted.
 */
const idKeyOf = ({ type, block, log, key }: ChainEvent) => {
  if (type === "policy_due" && log) return `${block.hash}:${log.txHash}:${log.index}:${key}`;
  return type === "policy_expired" ? `${block.hash}:${key}` : key;
};

/** A burn concerns no wallet in particular: whoever names it receives it. */
export const isForAnyWallet = (type: ChainEventType): boolean => type === "token_burned";

/** The row of a chain event. */
export function eventRow(chainId: number, event: ChainEvent): EventRow {
  const { type, block, log, key, occurrence, parties, data } = event;
  const id = eventId(chainId, idKeyOf(event), occurrence);
  const blockNumber = String(block.number);
  const txHash = log?.txHash ?? null;
  const createdAt = timeOf(block);
  return {
    id,
    key,
    occurrence,
    type,
    block_number: blockNumber,
    block_hash: block.hash,
    tx_hash: txHash,
    log_index: log?.index ?? null,
    parties,
    body: bodyOf({ id, type, createdAt, chainId, blockNumber, blockHash: block.hash, txHash, data }),
    reverts: null,
    forAnyWallet: isForAnyWallet(type),
  };
}

/** The row that reverts an event. It has the event's block, and its body names the block that replaced it. */
export function reversalRow(chainId: number, event: StoredEvent, canonicalBlockHash: Hex): EventRow {
  const { blockNumber, blockHash, txHash, parties } = event;
  const key = `reverted:${event.id}`;
  const id = eventId(chainId, key, 1);
  const { data: revertedData }: { data: object } = JSON.parse(event.body);
  const data: EventData["event_reverted"] = {
    eventId: event.id,
    eventType: event.type,
    canonicalBlockHash,
    data: revertedData,
  };
  const createdAt = new Date().toISOString();
  return {
    id,
    key,
    occurrence: 1,
    type: "event_reverted",
    block_number: blockNumber,
    block_hash: blockHash,
    tx_hash: txHash,
    log_index: event.logIndex,
    parties,
    body: bodyOf({ id, type: "event_reverted", createdAt, chainId, blockNumber, blockHash, txHash, data }),
    reverts: event.seq,
    forAnyWallet: isForAnyWallet(event.type),
  };
}
