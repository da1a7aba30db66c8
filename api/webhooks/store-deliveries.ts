/** Deliveries as their subscribers see them, and samples that they ask for. */
import { randomUUID } from "node:crypto";
import { and, desc, eq, lt, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../lib/db/connect.ts";
import { lower } from "../../lib/lower.ts";
import type { Attempt } from "../../lib/webhooks/attempt.ts";
import { type AnyEventType, BODY_VERSION, type EventBody, eventId } from "../../lib/webhooks/events.ts";
import type { Owner } from "./store.ts";
import { deliveryTable, eventTable } from "./tables.ts";

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
  /** Place of its event among all, which is the order of the list. */
  readonly seq: number;
  readonly eventId: string;
  readonly eventType: AnyEventType;
  readonly state: DeliveryState;
  readonly test: boolean;
  readonly attempts: readonly Attempt[];
  /** Null unless `retry_scheduled`. */
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  /** When it last arrived: one that was replayed keeps it while it is on its way again. */
  readonly deliveredAt: Date | null;
};

const { id, webhookId, eventSeq: seq, test, attempts, createdAt, deliveredAt, nextAttemptAt } = deliveryTable;

const isPending = sql`${deliveryTable.state} = 'pending'`;
/** After a failure, and not under way just now. */
const waits = sql`${deliveryTable.failures} > 0 and ${deliveryTable.takenAt} is null`;

const columns = {
  ...{ id, seq, test, attempts, createdAt, deliveredAt },
  eventId: eventTable.id,
  eventType: eventTable.type,
  state: sql<DeliveryState>`case when not (${isPending}) then ${deliveryTable.state}
    when ${waits} then 'retry_scheduled' else 'delivering' end`,
  nextAttemptAt: sql<Date | null>`case when ${isPending} and ${waits} then ${nextAttemptAt} end`.mapWith(
    nextAttemptAt,
  ),
};

function isIn(state: DeliveryState): SQL {
  if (state === "delivering") return sql`${isPending} and not (${waits})`;
  if (state === "retry_scheduled") return sql`${isPending} and ${waits}`;
  return sql`${deliveryTable.state} = ${state}`;
}

const select = (db: Pick<Database, "select">, where: SQL | undefined) =>
  db.select(columns).from(deliveryTable).innerJoin(eventTable, eq(eventTable.seq, seq)).where(where);

/** Of one subscription, those of the newest events first; `cursor`: behind the event of this number. */
export function listDeliveries(
  db: Database,
  ofWebhook: number,
  { state, cursor, limit, offset }: DeliveryPage,
): Promise<DeliveryRecord[]> {
  const where = and(
    eq(webhookId, ofWebhook),
    cursor === undefined ? undefined : lt(seq, cursor),
    state && isIn(state),
  );
  return select(db, where).orderBy(desc(seq)).limit(limit).offset(offset);
}

export type DeliveryPage = {
  readonly state?: DeliveryState | undefined;
  readonly cursor?: number | undefined;
  readonly limit: number;
  readonly offset: number;
};

/** Undefined when the subscription has none of this number, or is deleted. */
export async function readDelivery(
  db: Pick<Database, "select">,
  ofWebhook: number,
  deliveryId: number,
): Promise<DeliveryRecord | undefined> {
  const isThere = sql`exists (select 1 from service.webhook where id = ${ofWebhook} and state <> 'deleted')`;
  const [row] = await select(db, and(eq(id, deliveryId), eq(webhookId, ofWebhook), isThere));
  return row;
}

/**
 * Records a sample for a subscription in whatever state, for a writer to send. Each call makes another.
 * @returns the delivery's number; undefined when the wallet has no such subscription
 */
export function createTest(db: Database, owner: Owner, ofWebhook: number): Promise<number | undefined> {
  const key = `test:${randomUUID()}`;
  const body: EventBody<"webhook_test"> = {
    id: eventId(owner.chain, key, 1),
    type: "webhook_test",
    version: BODY_VERSION,
    createdAt: new Date().toISOString(),
    chainId: owner.chain,
    blockNumber: null,
    blockHash: null,
    txHash: null,
    data: { webhookId: ofWebhook, message: "This is a test." },
  };
  return db.transaction(async (tx) => {
    // Held against its removal until the delivery stands.
    const webhook = await tx.execute(sql`select 1 from service.webhook
      where id = ${ofWebhook} and chain_id = ${owner.chain} and wallet = ${lower(owner.wallet)}
        and state <> 'deleted' for key share`);
    if (webhook.length === 0) return undefined;
    const { type, chainId } = body;
    const [event] = await tx
      .insert(eventTable)
      .values({ id: body.id, chainId, key, type, parties: [lower(owner.wallet)], body: JSON.stringify(body) })
      .returning({ eventSeq: eventTable.seq });
    if (!event) throw new Error("the database returned no row for a new event");
    const [delivery] = await tx
      .insert(deliveryTable)
      .values({ webhookId: ofWebhook, ...event, test: true })
      .returning({ id });
    return delivery?.id;
  });
}
