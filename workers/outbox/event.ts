import type { Address, Hex } from "viem";
import type { EventData, EventType } from "../../lib/webhooks/events.ts";
import { BODY_VERSION, eventId } from "../../lib/webhooks/events.ts";

/** A block of the chain; its time in Unix seconds. */
export type Block = { readonly number: bigint; readonly hash: Hex; readonly timestamp: bigint };

/** Events that happen on the chain, by a log or by time. */
export type ChainEventType = Exclude<EventType, "event_reverted">;
/** Those that a log tells. */
export type LogEventType = Exclude<ChainEventType, "policy_expired">;

/** Something that happened, before it is stored. */
export type ChainEvent = {
  readonly type: ChainEventType;
  readonly block: Block;
  /** Null for what no transaction did. */
  readonly log: { readonly index: number; readonly txHash: Hex } | null;
  readonly key: string;
  readonly occurrence: number;
  /** In lower case, each once. */
  readonly parties: readonly Address[];
  readonly data: EventData[ChainEventType];
};

/** A row of `service.event` that is still to be written; `reverts` is the number of the event that it takes back. */
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
};

/** A stored event that may have to be taken back; `seq` and `blockNumber` are decimals. */
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
};

type Envelope = {
  id: string;
  type: EventType;
  createdAt: string;
  chainId: number;
  blockNumber: string;
  blockHash: Hex;
  txHash: Hex | null;
  data: object;
};

/** The very bytes that subscribers get. */
const bodyOf = ({ id, type, ...rest }: Envelope) =>
  JSON.stringify({ id, type, version: BODY_VERSION, ...rest });

/** The time of a block, ISO 8601. */
const timeOf = ({ timestamp }: Block) => new Date(Number(timestamp) * 1000).toISOString();

/** The row of something that happened. */
export function rowOf(chainId: number, event: ChainEvent): EventRow {
  const { type, block, log, key, occurrence, parties, data } = event;
  const id = eventId(chainId, key, occurrence);
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
  };
}

/** The row that takes an event back: it stands where the event stood, and tells which block stands there now. */
export function reversalOf(chainId: number, event: StoredEvent, canonicalBlockHash: Hex): EventRow {
  const { blockNumber, blockHash, txHash, parties } = event;
  const key = `reverted:${event.id}`;
  const id = eventId(chainId, key, 1);
  const { data: taken }: { data: object } = JSON.parse(event.body);
  const data: EventData["event_reverted"] = {
    eventId: event.id,
    eventType: event.type,
    canonicalBlockHash,
    data: taken,
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
  };
}
