import type { Sql } from "postgres";
import type { Address } from "viem";
import type { AttemptOutcome } from "../../lib/webhooks/attempt.ts";

/** A webhook that waits: it is undeliverable, or has events that are not delivered yet. */
export type WaitingWebhook = {
  id: number;
  wallet: Address;
  url: string;
  state: "active" | "undeliverable";
  /** Null while active. */
  undeliverableAt: Date | null;
  /** Undelivered events, counted up to {@link COUNTED}. */
  pending: number;
  /** When the oldest of the first {@link LOOKED_AT} was recorded; null when none is left. */
  oldestAt: Date | null;
  /** The most failed attempts in a row of one of these. */
  failures: number;
  /** When the next attempt of an active webhook is due; null when none is pending. */
  nextAttemptAt: Date | null;
  /** The newest attempt of the one with the most failures; null before it. */
  lastAttempt: { at: string; outcome: AttemptOutcome; status: number | null } | null;
};

/** Most undelivered events of a webhook that are counted. */
export const COUNTED = 1000;
/** Undelivered events of a webhook that are looked at: those of its next batch. */
const LOOKED_AT = 20;

/**
 * Waiting webhooks with ids above `after`, by id. The recursion skips from one webhook to the next in the index of pending
 * deliveries, so that long backlogs and webhooks without one cost nothing. (Without `offset 0`, Postgres would scan all webhooks for
 * each while it lacks statistics.)
 */
export async function listWaitingWebhooks(
  sql: Sql,
  chainId: number,
  { limit, after }: { limit: number; after: number },
): Promise<WaitingWebhook[]> {
  return sql<WaitingWebhook[]>`
    with recursive pending as (
      (select webhook_id from service.delivery where state = 'pending' and webhook_id > ${after} order by webhook_id limit 1)
      union all
      select d.webhook_id from pending p, lateral (
        select webhook_id from service.delivery
        where state = 'pending' and webhook_id > p.webhook_id order by webhook_id limit 1) d
    ), found as (
      (select id from service.webhook where chain_id = ${chainId} and state = 'undeliverable' and id > ${after}
        order by id limit ${limit})
      union
      (select w.id from pending p,
          lateral (select * from service.webhook w where w.id = p.webhook_id offset 0) w,
          lateral (select from service.delivery d
            where d.webhook_id = p.webhook_id and d.state = 'pending' and not d.test limit 1) sent
        where w.chain_id = ${chainId} and w.state = 'active' limit ${limit})
    )
    select w.id::float8 as id, w.wallet, w.url, w.state, w.undeliverable_at as "undeliverableAt",
      case w.state when 'active' then (select count(*)::int from (
          select from service.delivery d where d.webhook_id = w.id and d.state = 'pending' and not d.test limit ${COUNTED}) d)
        else (select count(*)::int from (
          select from service.delivery d where d.webhook_id = w.id and d.state = 'undeliverable' limit ${COUNTED}) d)
        end as pending,
      o.oldest as "oldestAt", coalesce(o.failures, 0) as failures,
      case w.state when 'active' then o.next_attempt end as "nextAttemptAt",
      o.last as "lastAttempt"
    from (select id from found order by id limit ${limit}) f
    join lateral (select * from service.webhook w where w.id = f.id offset 0) w on true
    left join lateral (
      select min(d.created_at) as oldest, max(d.failures) as failures, min(d.next_attempt_at) as next_attempt,
        (array_agg(d.attempts -> -1 order by d.failures desc, d.event_seq))[1] as last
      from (
        (select * from service.delivery d where w.state = 'active' and d.webhook_id = w.id and d.state = 'pending' and not d.test
          order by d.event_seq limit ${LOOKED_AT})
        union all
        (select * from service.delivery d where w.state = 'undeliverable' and d.webhook_id = w.id and d.state = 'undeliverable'
          order by d.event_seq limit ${LOOKED_AT})) d) o on true
    order by f.id`;
}
