/** An outbox in the test's process, on the index of a local chain, and queries of its events and deliveries. */
import { pino } from "pino";
import type { Hex } from "viem";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { type Outbox, startOutbox } from "../../../workers/outbox/start.ts";
import { openRows, type Rows } from "../../src/support/rows.ts";
import type { TestChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { type Stack, startStack } from "../../support/stack.ts";

export type StoredEvent = {
  seq: number;
  id: string;
  key: string;
  occurrence: number;
  type: string;
  blockNumber: number;
  blockHash: Hex;
  txHash: Hex | null;
  parties: string[];
  body: Record<string, unknown> & { data: Record<string, unknown> };
  reverts: number | null;
  reverted: boolean;
};

export type StoredDelivery = { webhookId: number; seq: number; type: string; state: string };

export type OutboxWorld = {
  readonly chain: TestChain;
  readonly stack: Stack;
  readonly rows: Rows;
  readonly connection: Connection;
  /** The subscription ids that the outboxes passed to `onDeliveries`. */
  readonly announced: string[];
  /** The log lines of the outboxes. */
  readonly lines: string[];
  /** Starts an outbox; it stops at the end of the test file at the latest. */
  readonly start: (options?: { rpcUrl?: string; confirmations?: number; holdMs?: number }) => Outbox;
  /** All events, by `seq`. */
  readonly events: () => Promise<StoredEvent[]>;
  readonly deliveries: () => Promise<StoredDelivery[]>;
  /** Stores a subscription as the api does; returns its id. */
  readonly subscribe: (wallet: string, options?: Subscription) => Promise<number>;
  /** Waits until the outbox has processed all blocks with enough confirmations. */
  readonly processed: (confirmations?: number) => Promise<void>;
};

export type Subscription = { events?: string[]; fromBlock?: bigint; url?: string };

/** Starts an indexer on the chain, unless `indexer` is false; the test starts the outbox. */
export async function startOutboxWorld(chain: TestChain, { indexer = true } = {}): Promise<OutboxWorld> {
  const stack = await startStack({ chain, services: indexer ? ["indexer"] : [] });
  const rows = openRows(stack.databaseUrl);
  const connection = connect(stack.databaseUrl, { name: "test", max: 2 });
  const { sql } = connection;
  atEnd(async () => {
    await Promise.all([rows.close(), connection.close()]);
  });
  const announced: string[] = [];
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => lines.push(line) });
  const { chainId } = chain.deployment;

  return {
    chain,
    stack,
    rows,
    connection,
    announced,
    lines,
    start({ rpcUrl: url = chain.url, confirmations = 1, holdMs } = {}) {
      const outbox = startOutbox({
        config: {
          DATABASE_URL: stack.databaseUrl,
          VIEWS_SCHEMA: "indexer",
          RPC_URL: url,
          WEBHOOK_CONFIRMATIONS: confirmations,
        },
        deployment: chain.deployment,
        ...(holdMs === undefined ? {} : { holdMs }),
        onDeliveries: (ids) => announced.push(...ids),
        log,
      });
      let stopped = false;
      const stop = async () => {
        if (!stopped) await outbox.stop();
        stopped = true;
      };
      atEnd(stop);
      return { stop };
    },
    async events() {
      const found = await sql<(Omit<StoredEvent, "body"> & { body: string })[]>`
        select seq::integer, id, key, occurrence, type, block_number::integer as "blockNumber", block_hash as "blockHash",
          tx_hash as "txHash", to_json(parties) as parties, body, reverts::integer, reverted_at is not null as reverted
        from service.event order by seq`;
      return found.map((row) => ({ ...row, body: JSON.parse(row.body) }));
    },
    async deliveries() {
      return sql<StoredDelivery[]>`
        select d.webhook_id::integer as "webhookId", d.event_seq::integer as seq, e.type, d.state
        from service.delivery d join service.event e on e.seq = d.event_seq order by d.webhook_id, d.event_seq`;
    },
    async subscribe(wallet, { events = ["*"], fromBlock, url = "https://example.com/" } = {}) {
      const head = fromBlock ?? (await chain.client.getBlockNumber());
      const [row] = await sql<{ id: number }[]>`
        insert into service.webhook (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event)
        select ${chainId}, ${wallet.toLowerCase()}, ${url}, ${events}::text[], 'sealed', ${String(head)}::bigint,
          coalesce((select processed_block from service.outbox where chain_id = ${chainId}), -1),
          coalesce((select max(seq) from service.event where chain_id = ${chainId}), 0)
        returning id::integer`;
      if (!row) throw new Error("no subscription");
      return row.id;
    },
    async processed(confirmations = 1) {
      await rows.caughtUp(chain.client);
      await waitFor({
        what: "the outbox to process the newest block",
        probe: async () => {
          const head = await chain.client.getBlockNumber();
          const [row] = await sql<{ block: number }[]>`
            select processed_block::integer as block from service.outbox where chain_id = ${chainId}`;
          return row && row.block >= Number(head) - confirmations + 1 ? true : undefined;
        },
      });
    },
  };
}
