/** Webhooks without a writer: tests insert the rows of deliveries as a writer would leave them, and read them back. */
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { atEnd } from "../../support/cleanup.ts";
import { startApi, type TestApi } from "./api.ts";
import { type MadeEvent, newSubscriber, type Subscriber, storeEvent } from "./webhooks.ts";

export const LOCAL_URL = "http://127.0.0.1:9/hook";

/** A failed attempt as stored. */
export const attempt = {
  ...{ at: "2026-01-01T00:00:00.000Z", durationMs: 12, outcome: "refused", status: 500 },
  ...{ error: "the answer was 500", response: "oh" },
};

/** `inHours`: when the next attempt is due. `taken`: an attempt is under way. */
export type Delivery = {
  state?: string;
  failures?: number;
  inHours?: number;
  taken?: boolean;
  test?: boolean;
};
type Row = { seq: string; state: string; failures: number; attempts: number; due: boolean };

export type Webhook = {
  readonly owner: Subscriber;
  /** The webhook's id. */
  readonly id: number;
  /** The first block with events for the webhook. */
  readonly firstBlock: number;
  /** Stores an event of the owner. */
  readonly addEvent: (more?: { type?: string; daysAgo?: number }) => Promise<MadeEvent>;
  /** Stores a delivery of an event with one attempt; returns its id. */
  readonly addDelivery: (event: MadeEvent, sent?: Delivery) => Promise<number>;
  /** The webhook's deliveries, oldest event first. */
  readonly deliveries: () => Promise<readonly Row[]>;
  readonly deliveryStates: () => Promise<readonly string[]>;
  /** Sequence number of the newest event. */
  readonly newestSeq: () => Promise<string>;
  /** Makes the webhook undeliverable after this event. */
  readonly markUndeliverable: (position: number | string) => Promise<unknown>;
};

/** What a test of a new webhook has. */
export type WebhookTest = { readonly webhook: () => Webhook; readonly connection: () => Connection };

/** Starts an api without a writer; the outbox row exists and does not move. */
export async function startWebhookApi(): Promise<{ api: TestApi; connection: Connection }> {
  const api = await startApi();
  const connection = connect(api.stack.databaseUrl, { name: "test", max: 4 });
  atEnd(() => connection.close());
  await newSubscriber(api); // returns once the tables exist
  await connection.sql`
    insert into service.outbox (chain_id, final_block, final_time, processed_block) values (8453, 1, 1, 1)`;
  return { api, connection };
}

/** A new wallet with a webhook for all its events; deletes all events and deliveries of earlier tests. */
export async function createWebhook(api: TestApi, connection: Connection): Promise<Webhook> {
  const { sql } = connection;
  const owner = await newSubscriber(api);
  const { id, fromBlock } = await owner.subscribe(LOCAL_URL);
  // Its challenge too.
  await sql`truncate service.delivery, service.fan_out, service.event`;
  const block = Number(fromBlock) + 1;
  const deliveries = () => sql<Row[]>`
    select event_seq as seq, state, failures, jsonb_array_length(attempts) as attempts, next_attempt_at <= now() as due
    from service.delivery where webhook_id = ${id} order by event_seq`;
  return {
    owner,
    id,
    firstBlock: block,
    addEvent: (more = {}) => storeEvent(connection, owner.wallet, { block, ...more }),
    async addDelivery(
      { seq },
      { state = "delivered", failures = 0, inHours = 0, taken = false, test: sample = false } = {},
    ) {
      const [row] = await sql<{ id: string }[]>`
        insert into service.delivery
          (webhook_id, event_seq, state, failures, attempts, next_attempt_at, taken_at, delivered_at, test)
        values (${id}, ${seq}, ${state}, ${failures}, ${JSON.stringify([attempt])}::text::jsonb,
          now() + make_interval(hours => ${inHours}), case when ${taken} then now() end,
          case when ${state} = 'delivered' then now() end, ${sample})
        returning id`;
      return Number(row?.id);
    },
    deliveries,
    deliveryStates: async () => (await deliveries()).map(({ state }) => state),
    async newestSeq() {
      const [row] = await sql<{ seq: string }[]>`select coalesce(max(seq), 0) as seq from service.event`;
      return row?.seq ?? "0";
    },
    markUndeliverable: (position) => sql`
      update service.webhook set state = 'undeliverable', position = ${position}, undeliverable_at = now()
      where id = ${id}`,
  };
}

/** Stores `count` events of the owner at once, with ids that begin with `prefix`. */
export const addEvents = (
  { sql }: Connection,
  { owner, firstBlock }: Webhook,
  prefix: string,
  count: number,
) => sql`
  insert into service.event (chain_id, id, key, type, block_number, parties, body)
  select 8453, ${prefix} || n, ${prefix} || n, 'bond_minted', ${firstBlock}, array[${owner.wallet.toLowerCase()}], '{}'
  from generate_series(1, ${count}) n`;
