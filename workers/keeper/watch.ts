/** SQL of the keeper's record of its own work: when it was there, and how fast its transactions were mined. */
import type { Sql } from "postgres";
import type { Address } from "viem";
import type { KeeperPurpose } from "../../lib/ledger/kinds.ts";
import type { KeeperContext } from "./context.ts";

/** After this time without a look, or between the blocks of two looks, the keeper was away, in seconds. */
const AWAY_AFTER = 60;

/**
 * Notes that a keeper was at work up to a block of this time (Unix seconds). A keeper whose index stood still was away too, however
 * often it looked.
 */
export async function noteWatch(sql: Sql, chainId: number, time: bigint): Promise<void> {
  await sql`
    with newest as (
      select since from service.keeper_watch where chain_id = ${chainId} order by since desc limit 1 for update
    ), extended as (
      update service.keeper_watch k set until = greatest(until, ${String(time)}::numeric), seen_at = now() from newest
      where k.chain_id = ${chainId} and k.since = newest.since and k.seen_at > now() - make_interval(secs => ${AWAY_AFTER})
        and k.until >= ${String(time)}::numeric - ${AWAY_AFTER}
      returning 1
    )
    insert into service.keeper_watch (chain_id, since, until)
    select ${chainId}, ${String(time)}::numeric, ${String(time)}::numeric where not exists (select from extended)
    on conflict (chain_id, since) do update set seen_at = now()`;
}

/** How long a transaction of the keeper took from its record to its block, in seconds. */
export type MinedBatch = { readonly purpose: KeeperPurpose; readonly seconds: number };

/** Reads the keeper's transactions that were settled after `since`, a time of the database. */
export async function readMined(
  sql: Sql,
  chainId: number,
  wallet: Address,
  since: string | undefined,
): Promise<{ mined: MinedBatch[]; until: string }> {
  const [row] = await sql<{ until: string; mined: MinedBatch[] }[]>`
    select now()::text as until, coalesce(json_agg(json_build_object('purpose', substr(e.purpose, length('keeper_') + 1),
      'seconds', extract(epoch from t.settled_at - e.created_at))) filter (where e.id is not null), '[]') as mined
    from service.relayer_wallet w
    left join lateral service.transactions_from(w.chain_id, w.address, w.final_below) t
      on t.settled_at > ${since ?? "infinity"}::text::timestamptz
    left join service.service_transaction e on e.id = t.intent
    where w.chain_id = ${chainId} and w.address = ${wallet}`;
  if (!row) throw new Error(`the ledger has no wallet ${wallet}`);
  return row;
}

/** How often the keeper notes that it is there, in ms. */
const WATCH_MS = 5000;

/** Notes that the keeper is at work, and measures what was mined since the last time. `time`: that of the head, in Unix seconds. */
export async function watch(context: KeeperContext, wallet: Address, time: bigint): Promise<void> {
  const { sql, chainId, meter } = context;
  if (performance.now() - context.watchedAt < WATCH_MS) return;
  await noteWatch(sql, chainId, time);
  const { mined, until } = await readMined(sql, chainId, wallet, context.minedUntil);
  for (const batch of mined) meter.mined(batch);
  context.minedUntil = until;
  context.watchedAt = performance.now();
}
