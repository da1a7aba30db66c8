/** Subscriptions: rows that their owners make, read, change and delete. */
import { and, desc, eq, ne, sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "../../lib/db/connect.ts";
import { lower } from "../../lib/lower.ts";
import { holdOutbox, whileWanted } from "../../lib/webhooks/outbox-lock.ts";
import { webhookTable } from "./tables.ts";

/** Subscriptions of one wallet. */
export const MAX_WEBHOOKS = 20;
/** How long the former secret signs beside the new one. */
const ROTATION = sql`interval '24 hours'`;

/** Whose subscriptions, on which chain; another wallet's do not exist for it. */
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
  /** Null when no former secret signs any more. */
  readonly previousSecretUntil: Date | null;
  readonly createdAt: Date;
};

const { id, chainId, wallet, url, events, state, undeliverableAt, fromBlock, createdAt } = webhookTable;
const { previousSecretUntil: until } = webhookTable;
const columns = {
  ...{ id, url, events, undeliverableAt, fromBlock, createdAt },
  // A deleted one is never read.
  state: sql<Webhook["state"]>`${state}`,
  previousSecretUntil: sql<Date | null>`case when ${until} > now() then ${until} end`.mapWith(until),
};

const ofOwner = (owner: Owner) =>
  and(eq(chainId, owner.chain), eq(wallet, lower(owner.wallet)), ne(state, "deleted"));
const one = (webhookId: number, owner: Owner) => and(eq(id, webhookId), ofOwner(owner));

export type NewWebhook = {
  readonly url: string;
  readonly events: readonly string[];
  /** Sealed. */
  readonly secret: string;
  /** The chain's newest block, as the node told it a moment ago. */
  readonly head: bigint;
};

/**
 * Records a subscription. Not idempotent: each call makes another. A lock on the wallet lets one at a time count.
 *
 * Each pass of the outbox either sees the subscription or has stored its events before: what comes afterwards is of a
 * block behind `passed_block`, or has a higher number than `passed_event`. A node that is behind the outbox does not
 * bring back what was passed before.
 * @returns undefined when the wallet has as many as it may
 */
export async function createWebhook(
  db: Database,
  owner: Owner,
  { head, ...told }: NewWebhook,
  wanted: AbortSignal,
): Promise<Webhook | undefined> {
  const passed = sql`coalesce((select passed_block from service.outbox where chain_id = ${owner.chain}), -1)`;
  return whileWanted(db, wanted, async (tx) => {
    const key = `service:webhooks:${owner.chain}:${lower(owner.wallet)}`;
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`);
    if ((await tx.$count(webhookTable, ofOwner(owner))) >= MAX_WEBHOOKS) return undefined;
    await holdOutbox(tx, owner.chain);
    const [row] = await tx
      .insert(webhookTable)
      .values({
        chainId: owner.chain,
        wallet: lower(owner.wallet),
        ...told,
        events: [...told.events],
        fromBlock: sql`greatest(${String(head)}, ${passed})`,
        passedBlock: passed,
        passedEvent: sql`coalesce((select max(seq) from service.event), 0)`,
      })
      .returning(columns);
    if (!row) throw new Error("the database returned no row for a new webhook");
    return row;
  });
}

/** A page of a wallet's subscriptions, newest first, and how many there are. */
export async function listWebhooks(
  db: Database,
  owner: Owner,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ webhooks: Webhook[]; total: number }> {
  const [webhooks, total] = await Promise.all([
    db.select(columns).from(webhookTable).where(ofOwner(owner)).orderBy(desc(id)).limit(limit).offset(offset),
    db.$count(webhookTable, ofOwner(owner)),
  ]);
  return { webhooks, total };
}

/** Undefined when the wallet has no such subscription. */
export async function readWebhook(
  db: Database,
  owner: Owner,
  webhookId: number,
): Promise<Webhook | undefined> {
  const [row] = await db.select(columns).from(webhookTable).where(one(webhookId, owner));
  return row;
}

/**
 * Deletes a subscription: from now on it does not exist for anybody, and nothing more is sent to it. It is only marked, for
 * its deliveries can be millions: a chore of the writer removes them, and then the row.
 * @returns false when the wallet has none of this number
 */
export async function deleteWebhook(db: Database, owner: Owner, webhookId: number): Promise<boolean> {
  const deleted = await db
    .update(webhookTable)
    .set({
      ...{ state: "deleted", position: null, undeliverableAt: null },
      ...{ secret: "", previousSecret: null, previousSecretUntil: null },
    })
    .where(one(webhookId, owner))
    .returning({ id });
  return deleted.length > 0;
}

/**
 * Puts a new secret (sealed) in the place of the one at hand, which goes on signing for a day. One that was before it signs
 * no more, so that a second rotation gets rid of a secret that has leaked.
 * @returns until when the former one signs; undefined when the wallet has no such subscription
 */
export async function rotateSecret(
  db: Database,
  owner: Owner,
  { webhookId, secret }: { webhookId: number; secret: string },
): Promise<Date | undefined> {
  const [row] = await db
    .update(webhookTable)
    .set({ secret, previousSecret: sql`secret`, previousSecretUntil: sql`now() + ${ROTATION}` })
    .where(one(webhookId, owner))
    .returning({ until });
  return row?.until ?? undefined;
}
