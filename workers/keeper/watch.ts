/** The keeper's record of its own work: when it was there, and how soon possible observations were made. */
import type { Sql } from "postgres";
import { noneWithoutIndex } from "../../lib/indexed/errors.ts";
import { greater } from "../common/bigints.ts";
import type { KeeperContext } from "./context.ts";
import { readDueToMined } from "./due-to-mined.ts";

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

/** How often the keeper notes that it is there, in ms. */
const WATCH_MS = 5000;

/** Notes that the keeper is at work, and measures what was observed since the last time. `time`: that of the head, in Unix seconds. */
export async function watch(context: KeeperContext, time: bigint): Promise<void> {
  const { sql, chainId, index, meter } = context;
  if (performance.now() - context.watchedAt < WATCH_MS) return;
  await noteWatch(sql, chainId, time);
  context.watchedAt = performance.now();
  const since = context.measuredTo;
  // A read that fails is not repeated: one that takes too long would delay the triggers of each round.
  context.measuredTo = undefined;
  const found = await readDueToMined(index, since).catch(noneWithoutIndex);
  for (const seconds of found?.seconds ?? []) meter.dueToMined(seconds);
  // After a reorganisation the head may be lower: what is mined again is not counted again.
  const until = found?.until ?? since;
  context.measuredTo = until === undefined || since === undefined ? until : greater(until, since);
}
