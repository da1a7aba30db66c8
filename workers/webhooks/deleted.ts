import type { Sql } from "postgres";

/** Removes what is left of subscriptions that their owners have deleted: their deliveries, and then they themselves. */

/** Rows of one statement: none holds locks for long. */
const ROUND = 2000;

/** @returns the deliveries that were removed, or so many of them as there was time for before `stopping`. */
export async function removeDeleted(
  sql: Sql,
  { chainId, stopping }: { chainId: number; stopping: () => boolean },
): Promise<number> {
  const webhooks = await sql<{ id: string }[]>`
    select id::text from service.webhook where chain_id = ${chainId} and state = 'deleted' order by id`;
  let total = 0;
  for (const { id } of webhooks) total += await removeOne(sql, id, stopping);
  return total;
}

async function removeOne(sql: Sql, webhookId: string, stopping: () => boolean): Promise<number> {
  let total = 0;
  // Each round begins behind the one before, for an index keeps what was removed for a while.
  for (let after = "-1"; ; ) {
    if (stopping()) return total;
    const [round] = await sql<{ count: number; last: string | null }[]>`
      with found as (
        select id, event_seq from service.delivery
        where webhook_id = ${webhookId}::bigint and event_seq > ${after}::bigint
        order by event_seq limit ${ROUND} for update skip locked),
      removed as (delete from service.delivery d using found where d.id = found.id)
      select count(*)::int as count, max(event_seq)::text as last from found`;
    if (!round || round.last === null) break;
    total += round.count;
    after = round.last;
  }
  // With what was being written down just then, or was added at the last moment.
  await sql`delete from service.webhook where id = ${webhookId}::bigint and state = 'deleted'`;
  return total;
}
