import type { Sql } from "postgres";
import { removeDeleted } from "./deleted.ts";

/**
 * Forgets what arrived long ago, the events that nobody is to be sent any more, and deleted subscriptions; what did not
 * arrive is kept.
 */

/** How long deliveries and events are kept: as far back as a subscription can be sent what it missed. */
const KEPT_DAYS = 30;
/** Rows of one statement: none holds locks for long. */
const ROUND = 2000;

/** Deletes in rounds until nothing is left to delete, or `stopping`. @returns the rows that were deleted. */
export async function prune(
  sql: Sql,
  { chainId, stopping = () => false }: { chainId: number; stopping?: () => boolean },
): Promise<{ deliveries: number; events: number }> {
  async function all(round: () => Promise<number>): Promise<number> {
    let total = 0;
    for (let deleted = ROUND; deleted > 0 && !stopping(); total += deleted) deleted = await round();
    return total;
  }
  const removed = await removeDeleted(sql, { chainId, stopping });
  const deliveries = removed + (await all(() => pruneDeliveries(sql, chainId)));
  const events = await all(() => pruneEvents(sql, chainId));
  return { deliveries, events };
}

async function pruneDeliveries(sql: Sql, chainId: number): Promise<number> {
  const { count } = await sql`
    delete from service.delivery where id in (
      select d.id from service.delivery d join service.webhook w on w.id = d.webhook_id
      where (d.state in ('delivered', 'cancelled') or d.test) and d.created_at < now() - make_interval(days => ${KEPT_DAYS})
        and w.chain_id = ${chainId}
      limit ${ROUND} for update of d skip locked)`;
  return count;
}

/** An event that may still turn out not to have happened is kept, as is one that another event takes back. */
async function pruneEvents(sql: Sql, chainId: number): Promise<number> {
  const { count } = await sql`
    delete from service.event where seq in (
      select e.seq from service.event e
      where e.chain_id = ${chainId} and e.created_at < now() - make_interval(days => ${KEPT_DAYS})
        and (e.block_number is null
          or e.block_number <= (select o.final_block from service.outbox o where o.chain_id = ${chainId}))
        and not exists (select 1 from service.delivery d where d.event_seq = e.seq)
        and not exists (select 1 from service.event r where r.reverts = e.seq)
      limit ${ROUND})`;
  return count;
}
