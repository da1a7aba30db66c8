/** Deliveries as their subscribers see them, and test deliveries. */
import type { ISql, Sql } from "postgres";
import { lower } from "../../lib/lower.ts";
import type { Attempt } from "../../lib/webhooks/attempt.ts";
import type { AnyEventType, TestType } from "../../lib/webhooks/events.ts";
import type { Owner } from "./store.ts";

export const deliveryStates = [
  "delivering",
  "retry_scheduled",
  "delivered",
  "undeliverable",
  "cancelled",
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export type DeliveryRecord = {
  readonly id: number;
  /** The number of its event; the list is sorted by it. */
  readonly seq: number;
  readonly eventId: string;
  readonly eventType: AnyEventType;
  readonly state: DeliveryState;
  readonly test: boolean;
  readonly attempts: readonly Attempt[];
  /** Null unless `retry_scheduled`. */
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  /** When it was last delivered; a replay keeps it until the next delivery. */
  readonly deliveredAt: Date | null;
};

const isPending = (sql: ISql) => sql`d.state = 'pending'`;
/** True after a failure while no attempt is in progress. */
const waits = (sql: ISql) => sql`d.failures > 0 and d.taken_at is null`;

const select = (sql: ISql) => sql`
  select d.id::float8 as id, d.event_seq::float8 as seq, e.id as "eventId", e.type as "eventType", d.test, d.attempts,
    case when not (${isPending(sql)}) then d.state when ${waits(sql)} then 'retry_scheduled' else 'delivering' end as state,
    case when ${isPending(sql)} and ${waits(sql)} then d.next_attempt_at end as "nextAttemptAt",
    d.created_at as "createdAt", d.delivered_at as "deliveredAt"
  from service.delivery d join service.event e on e.seq = d.event_seq`;

function isIn(sql: ISql, state: DeliveryState) {
  if (state === "delivering") return sql`${isPending(sql)} and not (${waits(sql)})`;
  if (state === "retry_scheduled") return sql`${isPending(sql)} and ${waits(sql)}`;
  return sql`d.state = ${state}`;
}

export type DeliveryPage = {
  readonly state?: DeliveryState | undefined;
  /** Only deliveries of events before the one with this number. */
  readonly cursor?: number | undefined;
  readonly limit: number;
  readonly offset: number;
};

/** Deliveries of one subscription, newest events first. */
export async function listDeliveries(
  sql: Sql,
  webhookId: number,
  { state, cursor, limit, offset }: DeliveryPage,
): Promise<DeliveryRecord[]> {
  return sql<DeliveryRecord[]>`
    ${select(sql)} where d.webhook_id = ${webhookId}
      ${cursor === undefined ? sql`` : sql`and d.event_seq < ${cursor}`} ${state ? sql`and ${isIn(sql, state)}` : sql``}
    order by d.event_seq desc limit ${limit} offset ${offset}`;
}

/** Undefined when the subscription has no such delivery, or is deleted. */
export async function readDelivery(
  sql: Sql,
  webhookId: number,
  deliveryId: number,
): Promise<DeliveryRecord | undefined> {
  const [row] = await sql<DeliveryRecord[]>`
    ${select(sql)} where d.id = ${deliveryId} and d.webhook_id = ${webhookId}
      and exists (select 1 from service.webhook where id = ${webhookId} and state <> 'deleted')`;
  return row;
}

/**
 * Records a test delivery for a subscription in any state, or its challenge; a writer sends it. Each call creates another.
 * @returns the delivery's number; undefined when the wallet has no such subscription
 */
export async function createTest(
  sql: ISql,
  owner: Owner,
  webhookId: number,
  type: TestType = "webhook_test",
): Promise<number | undefined> {
  const [row] = await sql<{ id: number | null }[]>`
    select service.add_test(${owner.chain}, ${lower(owner.wallet)}, ${webhookId}::bigint, ${type})::float8 as id`;
  return row?.id ?? undefined;
}
