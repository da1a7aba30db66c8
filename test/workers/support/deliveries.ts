/** A writer's deliveries in the test's process, on a database of its own, and functions that store and read its rows. */
import { randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { Registry } from "prom-client";
import { connect } from "../../../lib/db/connect.ts";
import { createLogger } from "../../../lib/log.ts";
import { DEV_SECRETS_KEY } from "../../../lib/off-local.ts";
import { LOOPBACK_HOSTS } from "../../../lib/webhooks/allowed-hosts.ts";
import type { Attempt } from "../../../lib/webhooks/attempt.ts";
import { createSealer, newSecret } from "../../../lib/webhooks/secrets.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { createDeliveryMeter } from "../../../workers/metrics/webhook-metrics.ts";
import { type Delivery, type DeliveryOptions, startDelivery } from "../../../workers/webhooks/start.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";

export const CHAIN = 31_337;
export const WALLET = "0x00000000000000000000000000000000000000aa";
const sealer = createSealer(DEV_SECRETS_KEY);

export const deliveredAttempt: Attempt = {
  ...{ at: new Date().toISOString(), durationMs: 1, outcome: "delivered", status: 200 },
  ...{ error: null, response: "" },
};
export const refusedAttempt: Attempt = {
  ...deliveredAttempt,
  ...{ outcome: "refused", status: 500, error: "answered 500" },
};

export type DeliveryRow = {
  id: string;
  state: string;
  failures: number;
  attempts: readonly Attempt[];
  takenAt: string | null;
  /** Seconds from now. */
  dueIn: number;
};

/** Changes of the default options. */
type StartOptions = Partial<Omit<DeliveryOptions, "config">> & {
  config?: Partial<DeliveryOptions["config"]>;
};

export async function openDeliveries(redisUrl?: string) {
  const databaseUrl = await freshDatabase();
  const { sql, close } = connect(databaseUrl, { name: "test" });
  atEnd(close);

  /** Starts a writer's deliveries; they stop at the end of the test file at the latest. */
  async function start({ config, ...options }: StartOptions = {}): Promise<Delivery> {
    // A queue that cannot be reached within three seconds is tried again, as the writer does.
    const delivery = await waitFor({
      what: "the deliveries to start",
      probe: () =>
        startDelivery({
          config: {
            DATABASE_URL: databaseUrl,
            REDIS_URL: redisUrl,
            SECRETS_KEY: DEV_SECRETS_KEY,
            WEBHOOK_CONCURRENCY: 40,
            ...config,
          },
          chainId: CHAIN,
          allow: LOOPBACK_HOSTS,
          meter: createDeliveryMeter(new Registry()),
          log: createLogger("test", "silent"),
          ...options,
        }),
    });
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= delivery.stop();
      return stopped;
    };
    atEnd(stop);
    return { ...delivery, stop };
  }

  return { sql, databaseUrl, redisUrl, start, ...rows(sql) };
}

export type Deliveries = Awaited<ReturnType<typeof openDeliveries>>;

function rows(sql: Sql) {
  return {
    /** Subscribes a URL to all events. */
    async subscribe(url: string, wallet = WALLET): Promise<{ id: string; secret: string }> {
      const secret = newSecret();
      const [row] = await sql<{ id: string }[]>`
        insert into service.webhook (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event)
        values (${CHAIN}, ${wallet}, ${url}, '{*}', ${sealer.seal(secret, wallet)}, 0, -1, 0) returning id::text`;
      if (!row) throw new Error("no webhook was stored");
      return { id: row.id, secret };
    },

    /** Stores events with a delivery for each subscription. @returns the ids of the events, in order */
    async publish(
      webhookIds: readonly string[],
      count = 1,
      { test = false, traceparent = null }: { test?: boolean; traceparent?: string | null } = {},
    ): Promise<readonly string[]> {
      const ids = Array.from({ length: count }, () => `evt_${randomUUID().replaceAll("-", "")}`);
      await sql`
        with stored as (
          insert into service.event (chain_id, id, key, type, block_number, parties, traceparent, body)
          select ${CHAIN}, id, id, ${test ? "webhook_test" : "token_burned"}, ${test ? null : 1}::bigint, '{}', ${traceparent},
            json_build_object('id', id, 'n', n, 'text', 'Prämie')::text
          from unnest(${ids}::text[]) with ordinality as e (id, n) order by n
          returning seq
        )
        insert into service.delivery (webhook_id, event_seq, test)
        select w::bigint, seq, ${test} from stored, unnest(${[...webhookIds]}::text[]) w order by seq`;
      return ids;
    },

    /** The deliveries of a subscription, in event order. */
    async deliveries(webhookId: string): Promise<readonly DeliveryRow[]> {
      return sql<DeliveryRow[]>`
        select id::text, state, failures, attempts, taken_at::text as "takenAt",
          extract(epoch from next_attempt_at - now())::float8 as "dueIn"
        from service.delivery where webhook_id = ${webhookId}::bigint order by event_seq`;
    },

    async webhook(webhookId: string) {
      const [row] = await sql<{ state: string; position: string | null; leased: boolean }[]>`
        select state, position::text, lease_until > now() as leased
        from service.webhook where id = ${webhookId}::bigint`;
      return row;
    },

    /** Makes all pending deliveries due now. */
    async makeDue(webhookId: string): Promise<void> {
      await sql`
        update service.delivery set next_attempt_at = now() where webhook_id = ${webhookId}::bigint and state = 'pending'`;
    },

    /** Waits until a condition holds for a subscription's deliveries. */
    async until(
      webhookId: string,
      what: string,
      condition: (rows: readonly DeliveryRow[]) => boolean,
    ): Promise<readonly DeliveryRow[]> {
      return waitFor({
        what,
        probe: async () => {
          const now = await this.deliveries(webhookId);
          return condition(now) ? now : undefined;
        },
        intervalMs: 20,
      });
    },
  };
}

/** A condition: all deliveries have this state. */
export const all =
  (state: string) =>
  (rows: readonly DeliveryRow[]): boolean =>
    rows.every((row) => row.state === state);
