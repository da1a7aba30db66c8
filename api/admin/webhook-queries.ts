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
 * Samples that a subscriber asked for do not count.
 */
export async function readLateWebhooks(
  sql: Sql,
  { limit, cursor = 0 }: { limit: number; cursor?: number | undefined },
): Promise<LateWebhook[]> {
  const rows = await sql<LateWebhook[]>`
    select w.id::float8 as id, w.chain_id as "chainId", w.wallet, w.url, w.state, w.undeliverable_at as "undeliverableAt",
      counted.undelivered, oldest.failures, oldest.created_at as "oldestAt",
      case w.state when 'active' then oldest.next_attempt_at end as "nextAttemptAt"
    from (
      select id, chain_id, wallet, url, state, undeliverable_at,
        case state when 'active' then 'pending' else 'undeliverable' end as of_state
      from service.webhook w
      where id > ${cursor} and (state = 'undeliverable' or state = 'active' and exists (
        select from service.delivery d where d.webhook_id = w.id and d.state = 'pending' and not d.test))
      order by id limit ${limit + 1}) w
    cross join lateral (
      select count(*)::int as undelivered from (
        select from service.delivery d where d.webhook_id = w.id and d.state = w.of_state and not d.test
        limit ${MOST_COUNTED}) d) counted
    left join lateral (
      select d.failures, d.created_at, d.next_attempt_at from service.delivery d
      where d.webhook_id = w.id and d.state = w.of_state and not d.test order by d.event_seq limit 1) oldest on true
    order by w.id`;
  return rows.map((row) => ({ ...row, wallet: getAddress(row.wallet) }));
}
