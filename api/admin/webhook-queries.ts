import type { Sql } from "postgres";
import { type Address, getAddress } from "viem";

/** Deliveries of one webhook that are counted at most: a receiver that is away for a day may have millions. */
export const MOST_COUNTED = 10_000;

/** A webhook that is behind. */
export type LateWebhook = {
  id: number;
  chainId: number;
  wallet: Address;
  url: string;
  state: "active" | "undeliverable";
  undeliverableAt: Date | null;
  /** Deliveries that were not made, at most {@link MOST_COUNTED}. */
  undelivered: number;
  /** Of the oldest of them: failed attempts, when it was created, and when it is tried next; null when there is none. */
  failures: number | null;
  oldestAt: Date | null;
  nextAttemptAt: Date | null;
};

/**
 * The webhooks that are undeliverable, or have deliveries to make, by their ids, from the cursor on; one more than the limit.
 * Samples that a subscriber asked for do not count. The recursion skips from one webhook to the next in the index of pending
 * deliveries, so that long backlogs and webhooks without one cost nothing. (Without `offset 0`, Postgres would scan all webhooks
 * for each while it lacks statistics.) Each state is named where its deliveries are read, because each has an index of its own.
 */
export async function readLateWebhooks(
  sql: Sql,
  { limit, cursor = 0 }: { limit: number; cursor?: number | undefined },
): Promise<LateWebhook[]> {
  const rows = await sql<LateWebhook[]>`
    with recursive pending as (
      (select webhook_id from service.delivery where state = 'pending' and webhook_id > ${cursor} order by webhook_id limit 1)
      union all
      select d.webhook_id from pending p, lateral (
        select webhook_id from service.delivery
        where state = 'pending' and webhook_id > p.webhook_id order by webhook_id limit 1) d
    ), matching as (
      (select id from service.webhook where state = 'undeliverable' and id > ${cursor} order by id limit ${limit + 1})
      union
      (select p.webhook_id from pending p,
          lateral (select state from service.webhook w where w.id = p.webhook_id offset 0) w,
          lateral (select from service.delivery d
            where d.webhook_id = p.webhook_id and d.state = 'pending' and not d.test limit 1) sent
        where w.state = 'active' limit ${limit + 1})
    )
    select w.id::float8 as id, w.chain_id as "chainId", w.wallet, w.url, w.state, w.undeliverable_at as "undeliverableAt",
      case w.state when 'active' then (select count(*)::int from (
          select from service.delivery d where d.webhook_id = w.id and d.state = 'pending' and not d.test
          limit ${MOST_COUNTED}) d)
        else (select count(*)::int from (
          select from service.delivery d where d.webhook_id = w.id and d.state = 'undeliverable' and not d.test
          limit ${MOST_COUNTED}) d) end as undelivered,
      oldest.failures, oldest.created_at as "oldestAt",
      case w.state when 'active' then oldest.next_attempt_at end as "nextAttemptAt"
    from (select id from matching order by id limit ${limit + 1}) f
    join lateral (select * from service.webhook w where w.id = f.id offset 0) w on true
    left join lateral (
      (select d.failures, d.created_at, d.next_attempt_at from service.delivery d
        where w.state = 'active' and d.webhook_id = w.id and d.state = 'pending' and not d.test order by d.event_seq limit 1)
      union all
      (select d.failures, d.created_at, d.next_attempt_at from service.delivery d
        where w.state = 'undeliverable' and d.webhook_id = w.id and d.state = 'undeliverable' and not d.test
        order by d.event_seq limit 1)) oldest on true
    order by f.id`;
  return rows.map((row) => ({ ...row, wallet: getAddress(row.wallet) }));
}
