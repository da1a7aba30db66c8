import type { Sql } from "postgres";

/** Removes the rows of deleted subscriptions: first their deliveries, then the subscriptions. */

/** Rows of one statement, so that none holds locks for long. */
const ROUND = 2000;

/** Removes in rounds until nothing is left, or `stopping`. @returns the number of removed deliveries. */
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
  // Each round starts after the last one, because index entries of removed rows remain for a while.
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
  // Deleting the subscription also deletes deliveries that were locked or inserted meanwhile.
  await sql`delete from service.webhook where id = ${webhookId}::bigint and state = 'deleted'`;
  return total;
}
