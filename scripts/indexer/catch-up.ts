/** Lets readers see a build's rows once they are those of one block, and never of a lower one than readers have seen. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ISql, Sql, TransactionSql } from "postgres";
import { z } from "zod";
import { isNotBuilt, isSwap } from "../../lib/indexed/errors.ts";
import { DOWN_AFTER_SECONDS } from "../../lib/indexed/heartbeat.ts";
import { type Build, indexedBlock, replaceViews, servedSchema } from "./views.ts";

/** Between two looks, in ms: readers wait for the new rows, and a look takes a few ms. */
const EVERY_MS = 200;
/** Longest wait for readers of the old views, and of another build for this one, in ms: meanwhile new readers wait too. */
const LOCK_TIMEOUT_MS = 1000;
/** A machine that is not busy indexes so many blocks within that time. On a busy one each look brings the build nearer. */
const FEW_BLOCKS = 50n;

const digits = z.string().regex(/^\d+$/).transform(BigInt).nullable();

/** The chain's newest block. @throws when the node does not answer */
type NewestBlock = () => Promise<bigint>;

/** Whether the build may take the views from `served`: not from a newer build that is at work. */
async function mayReplace(tx: ISql, schema: string, served: string): Promise<boolean> {
  const [newer] = await tx`
    select from service.indexer_deployment other, service.indexer_deployment own
    where other.schema_name = ${served} and own.schema_name = ${schema}
      and other.first_started_at > own.first_started_at
      and coalesce(other.heartbeat_at, other.started_at) >= now() - make_interval(secs => ${DOWN_AFTER_SECONDS})`;
  return newer === undefined;
}

/** The newest block that readers may have seen: of the views as they are, or before the start of an indexer that catches up. */
async function newestSeen(tx: ISql, { schema, viewsSchema }: Build, served: string): Promise<bigint> {
  const [row] = await tx`
    select greatest((select max(last_block) from service.indexer_deployment where schema_name in (${schema}, ${served})),
      (select max(number) from ${tx(viewsSchema)}.head))::text as block`;
  return z.object({ block: digits }).parse(row).block ?? 0n;
}

/** The block of a build's rows, and the newest block that readers may have seen. */
type Blocks = { readonly block: bigint; readonly seen: bigint };

/**
 * Reads both blocks. If this build is at most a few blocks behind, waits for it: two builds index the same blocks at the same time,
 * and the other one's next block waits until the end of this transaction.
 */
async function compareBlocks(tx: TransactionSql, build: Build, served: string): Promise<Blocks> {
  const blockNow = async () => (await indexedBlock(tx, build.schema)).block ?? -1n;
  let block = await blockNow();
  let seen = await newestSeen(tx, build, served);
  if (served !== build.schema && block + FEW_BLOCKS >= seen) {
    await tx`lock table ${tx(served)}.head in share mode`;
    seen = await newestSeen(tx, build, served);
    const deadline = Date.now() + LOCK_TIMEOUT_MS;
    for (block = await blockNow(); block < seen && Date.now() < deadline; block = await blockNow())
      await sleep(20);
  }
  return { block, seen };
}

/** The outcome of a look: whether readers see the rows, and `behind` if their block is below what readers have seen. */
type Look = { readonly shown: boolean; readonly behind?: Blocks };

/**
 * Shows a build's rows to readers, unless their block is below what readers have seen.
 * @param enough the chain's newest block, and what readers had seen before it was read: after a reorganisation the chain may be shorter
 */
async function show(tx: TransactionSql, build: Build, enough?: Blocks): Promise<Look> {
  const { schema, viewsSchema } = build;
  const notYet = { shown: false };
  await tx.unsafe(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await tx`select pg_advisory_xact_lock(hashtextextended('views:' || ${viewsSchema}, 0))`;
  const { ready, block } = await indexedBlock(tx, schema);
  if (!ready) return notYet;
  const served = await servedSchema(tx, viewsSchema);
  // A first index has nothing to replace: its views stand before its first live block.
  if (served === undefined) await replaceViews(tx, build);
  if (block === null) return notYet;
  if (served !== undefined) {
    if (served !== schema && !(await mayReplace(tx, schema, served))) return notYet;
    const now = await compareBlocks(tx, build, served);
    // What readers have seen since the chain's newest block was read may be of a longer chain.
    const isEnough = enough !== undefined && now.seen <= enough.seen && now.block >= enough.block;
    if (now.block < now.seen && !isEnough) return now.block < 0n ? notYet : { shown: false, behind: now };
    if (served !== schema) await replaceViews(tx, build);
  }
  await tx`
    update service.indexer_deployment set catching_up = false, snapshot = null, last_block = null
    where schema_name = ${schema}`;
  return { shown: true };
}

/**
 * One look at a build's rows: shows them to readers if they may see them, and puts the views on the build if another one's are
 * behind them.
 * @returns whether readers see the build's rows
 */
export async function showIfCaughtUp(sql: Sql, build: Build, newestBlock: NewestBlock): Promise<boolean> {
  const { shown, behind } = await sql.begin((tx) => show(tx, build));
  if (behind === undefined) return shown;
  // Between two transactions: the node may take longer than Postgres lets one rest.
  const newest = await newestBlock();
  if (behind.block < newest) return false;
  const second = await sql.begin((tx) => show(tx, build, { seen: behind.seen, block: newest }));
  return second.shown;
}

/** The next look may find it otherwise: there are no tables yet, readers hold the views, or another build replaces them. */
const isTransient = (error: unknown): boolean =>
  isNotBuilt(error) || isSwap(error) || (error instanceof Error && "code" in error && error.code === "55P03");

/**
 * Looks at the build's rows until readers see them, and then calls `onShown`. An older build waits until a newer one behind the
 * views has been down for {@link DOWN_AFTER_SECONDS}.
 */
export function watchCatchUp(
  sql: Sql,
  build: Build,
  {
    newestBlock,
    onShown,
    onFault,
  }: { newestBlock: NewestBlock; onShown: () => void; onFault: (error: unknown) => void },
): void {
  const look = async () => {
    try {
      if (await showIfCaughtUp(sql, build, newestBlock)) return onShown();
    } catch (error) {
      if (!isTransient(error)) onFault(error);
    }
    setTimeout(look, EVERY_MS).unref();
  };
  void look();
}
