/** Subscriptions: rows that their owners create, read, change and delete. */
import type { ISql, Sql } from "postgres";
import type { Address } from "viem";
import { lower } from "../../lib/lower.ts";
import { abortableTransaction, lockOutboxShared } from "../../lib/webhooks/outbox-lock.ts";
import { createTest } from "./store-deliveries.ts";

/** The most subscriptions of one wallet. */
export const MAX_WEBHOOKS = 20;
/** After a rotation the previous secret signs beside the new one for this many hours. */
const ROTATION_HOURS = 24;

/** The wallet that owns subscriptions, and their chain; it cannot see those of other wallets. */
export type Owner = { readonly chain: number; readonly wallet: Address };

/** A subscription without its secret. */
export type Webhook = {
  readonly id: number;
  readonly url: string;
  /** Names of events, or `*` alone. */
  readonly events: readonly string[];
  readonly state: "active" | "undeliverable";
  /** Null while active. */
  readonly undeliverableAt: Date | null;
  /** Events of later blocks are the subscription's. */
  readonly fromBlock: number;
  /** Null when no previous secret signs any more. */
  readonly previousSecretUntil: Date | null;
  /** Its receiver has echoed a challenge. */
  readonly verified: boolean;
  readonly createdAt: Date;
};

const columns = (sql: ISql) => sql`
  id::float8 as id, url, to_json(events) as events, state, undeliverable_at as "undeliverableAt",
  from_block::float8 as "fromBlock", created_at as "createdAt", verified_at is not null as verified,
  case when previous_secret_until > now() then previous_secret_until end as "previousSecretUntil"`;

const ofOwner = (sql: ISql, { chain, wallet }: Owner) => sql`
  chain_id = ${chain} and wallet = ${lower(wallet)} and state <> 'deleted'`;
/** True for one subscription of the owner. */
export const isWebhook = (sql: ISql, id: number, owner: Owner) => sql`id = ${id} and ${ofOwner(sql, owner)}`;

export type NewWebhook = {
  readonly url: string;
  readonly events: readonly string[];
  /** Sealed. */
  readonly secret: string;
  /** The chain's newest block, read from the node a moment ago. */
  readonly head: bigint;
};

/**
 * Records a subscription. Not idempotent: each call creates another. A lock on the wallet serialises concurrent calls, so
 * that each counts the subscriptions of those before it.
 *
 * Each run of the outbox either sees the subscription or has stored its events before: later events are of a block after
 * `processed_block`, or have a higher number than `processed_event`. When the node lags behind the outbox, the subscription still
 * starts after the blocks that the outbox has processed.
 * @returns undefined when the wallet has reached its limit; otherwise also the delivery of its challenge
 */
export async function createWebhook(
  sql: Sql,
  owner: Owner,
  { head, url, events, secret }: NewWebhook,
  wanted: AbortSignal,
): Promise<{ webhook: Webhook; challenge: number } | undefined> {
  const processed = sql`coalesce((select processed_block from service.outbox where chain_id = ${owner.chain}), -1)`;
  return abortableTransaction(sql, wanted, async (tx) => {
    const key = `service:webhooks:${owner.chain}:${lower(owner.wallet)}`;
    await tx`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`;
    const others = await tx`select 1 from service.webhook where ${ofOwner(tx, owner)} limit ${MAX_WEBHOOKS}`;
    if (others.length >= MAX_WEBHOOKS) return undefined;
    await lockOutboxShared(tx, owner.chain);
    const [row] = await tx<Webhook[]>`
      insert into service.webhook (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event)
      values (${owner.chain}, ${lower(owner.wallet)}, ${url}, ${[...events]}::text[], ${secret},
        greatest(${String(head)}::bigint, ${processed}), ${processed}, coalesce((select max(seq) from service.event), 0))
      returning ${columns(tx)}`;
    if (!row) throw new Error("the database returned no row for a new webhook");
    const challenge = await createTest(tx, owner, row.id, "webhook_challenge");
    if (challenge === undefined) throw new Error("the database has no new webhook to challenge");
    return { webhook: row, challenge };
  });
}

/** A page of a wallet's subscriptions, newest first, and how many there are. */
export async function listWebhooks(
  sql: Sql,
  owner: Owner,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ webhooks: Webhook[]; total: number }> {
  const owned = sql`from service.webhook where ${ofOwner(sql, owner)}`;
  const [webhooks, [count]] = await Promise.all([
    sql<Webhook[]>`select ${columns(sql)} ${owned} order by webhook.id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total ${owned}`,
  ]);
  return { webhooks, total: count?.total ?? 0 };
}

/** Undefined when the wallet has no such subscription. */
export async function readWebhook(sql: Sql, owner: Owner, webhookId: number): Promise<Webhook | undefined> {
  const [row] = await sql<Webhook[]>`
    select ${columns(sql)} from service.webhook where ${isWebhook(sql, webhookId, owner)}`;
  return row;
}

/**
 * Deletes a subscription: it is invisible from now on, and nothing more is sent to it. The row is only marked, because it can
 * have millions of deliveries: a chore of the writer removes them, and then the row.
 * @returns false when the wallet has no such subscription
 */
export async function deleteWebhook(sql: Sql, owner: Owner, webhookId: number): Promise<boolean> {
  const deleted = await sql`
    update service.webhook set state = 'deleted', position = null, undeliverable_at = null,
      secret = '', previous_secret = null, previous_secret_until = null
    where ${isWebhook(sql, webhookId, owner)} returning 1`;
  return deleted.length > 0;
}

/**
 * Replaces the secret with a new one (sealed); the replaced one still signs for {@link ROTATION_HOURS}. An older one stops
 * signing at once, so a second rotation removes a leaked secret.
 * @returns until when the replaced one signs; undefined when the wallet has no such subscription
 */
export async function rotateSecret(
  sql: Sql,
  owner: Owner,
  { webhookId, secret }: { webhookId: number; secret: string },
): Promise<Date | undefined> {
  const [row] = await sql<{ until: Date }[]>`
    update service.webhook set secret = ${secret}, previous_secret = secret,
      previous_secret_until = now() + make_interval(hours => ${ROTATION_HOURS})
    where ${isWebhook(sql, webhookId, owner)} returning previous_secret_until as until`;
  return row?.until;
}
