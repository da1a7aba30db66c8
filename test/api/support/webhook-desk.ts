/** A webhook without a writer, and its deliveries as writers leave them: rows that tests make and look at. */
import type { ISql } from "postgres";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { atEnd } from "../../support/cleanup.ts";
import { startApi, type TestApi } from "./api.ts";
import { type MadeEvent, newSubscriber, type Subscriber, storeEvent } from "./webhooks.ts";

export const URL_HERE = "http://127.0.0.1:9/hook";

/** What an attempt has left. */
export const attempt = {
  ...{ at: "2026-01-01T00:00:00.000Z", durationMs: 12, outcome: "refused", status: 500 },
  ...{ error: "the answer was 500", response: "oh" },
};

/** `inHours`: when it is due. `taken`: an attempt is under way. */
export type Sent = { state?: string; failures?: number; inHours?: number; taken?: boolean; test?: boolean };
type Row = { seq: string; state: string; failures: number; attempts: number; due: boolean };

export type Desk = {
  readonly owner: Subscriber;
  /** The webhook's number. */
  readonly id: number;
  /** The first block whose events are the webhook's. */
  readonly block: number;
  /** Stores an event of the owner's. */
  readonly event: (more?: { type?: string; daysAgo?: number }) => Promise<MadeEvent>;
  /** Stores a delivery of an event with one attempt; returns its number. */
  readonly deliver: (event: MadeEvent, sent?: Sent) => Promise<number>;
  /** The webhook's deliveries, oldest event first. */
  readonly rows: () => Promise<readonly Row[]>;
  readonly states: () => Promise<readonly string[]>;
  /** Number of the newest event. */
  readonly lastSeq: () => Promise<string>;
  /** Makes the webhook undeliverable, behind this event. */
  readonly giveUp: (position: number | string) => Promise<unknown>;
};

/** Waits until somebody waits for an advisory lock of this database, as the outbox's is one. */
export const untilLockWanted = (sql: ISql) =>
  waitFor({
    what: "somebody to wait for the lock",
    probe: async () => {
      const waiting = await sql`
        select 1 from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
      return waiting.length > 0 || undefined;
    },
    timeoutMs: 60_000,
    intervalMs: 20,
  });

/** An api alone, with an outbox that stands still. */
export async function startWebhookApi(): Promise<{ api: TestApi; connection: Connection }> {
  const api = await startApi();
  const connection = connect(api.stack.databaseUrl, { name: "test", max: 4 });
  atEnd(() => connection.close());
  await newSubscriber(api); // the tables are there
  await connection.sql`
    insert into service.outbox (chain_id, final_block, final_time, passed_block) values (8453, 1, 1, 1)`;
  return { api, connection };
}

/** A new wallet with a webhook for all its events; what other tests have stored is gone, burns too. */
export async function newDesk(api: TestApi, connection: Connection): Promise<Desk> {
  const { sql } = connection;
  await sql`truncate service.delivery, service.event`;
  const owner = await newSubscriber(api);
  const { id, fromBlock } = await owner.subscribe(URL_HERE);
  const block = Number(fromBlock) + 1;
  const rows = () => sql<Row[]>`
    select event_seq as seq, state, failures, jsonb_array_length(attempts) as attempts, next_attempt_at <= now() as due
    from service.delivery where webhook_id = ${id} order by event_seq`;
  return {
    owner,
    id,
    block,
    event: (more = {}) => storeEvent(connection, owner.wallet, { block, ...more }),
    async deliver(
      { seq },
      { state = "delivered", failures = 0, inHours = 0, taken = false, test: sample = false } = {},
    ) {
      const [row] = await sql<{ id: string }[]>`
        insert into service.delivery
          (webhook_id, event_seq, state, failures, attempts, next_attempt_at, taken_at, delivered_at, test)
        values (${id}, ${seq}, ${state}, ${failures}, ${JSON.stringify([attempt])}::jsonb,
          now() + make_interval(hours => ${inHours}), case when ${taken} then now() end,
          case when ${state} = 'delivered' then now() end, ${sample})
        returning id`;
      return Number(row?.id);
    },
    rows,
    states: async () => (await rows()).map(({ state }) => state),
    async lastSeq() {
      const [row] = await sql<{ seq: string }[]>`select coalesce(max(seq), 0) as seq from service.event`;
      return row?.seq ?? "0";
    },
    giveUp: (position) => sql`
      update service.webhook set state = 'undeliverable', position = ${position}, undeliverable_at = now()
      where id = ${id}`,
  };
}

/** Stores thousands of events of the owner's at once, with ids that begin with `prefix`. */
export const storeMany = ({ sql }: Connection, { owner, block }: Desk, prefix: string, count: number) => sql`
  insert into service.event (chain_id, id, key, type, block_number, parties, body)
  select 8453, ${prefix} || n, ${prefix} || n, 'bond_minted', ${block}, array[${owner.wallet.toLowerCase()}], '{}'
  from generate_series(1, ${count}) n`;
