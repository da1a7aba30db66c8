/** The rounds of the price feeds. */

import { oracleFeed, oraclePhase, oracleRound } from "ponder:schema";
import { and, desc, eq, gte, lt } from "ponder";
import type { Hex } from "viem";
import { type Db, type LogEvent, rowAt } from "./event.ts";
import { type IndexedPriceFeed, indexedSources } from "./sources.ts";

const { prices } = indexedSources(process.env);

/** A proxy's round id is `phase << 64 | the aggregator's round`. */
const PHASE_ROUNDS = 2n ** 64n;
const MAX_UINT80 = 2n ** 80n - 1n;

type Feed = typeof oracleFeed.$inferSelect;

/** Makes `phase` the phase from which the feed answers. Its aggregator may have had rounds before. */
async function beginPhase(db: Db, event: LogEvent, asset: Hex, phase: number): Promise<Feed> {
  const first = BigInt(phase) * PHASE_ROUNDS;
  const [newest] = await db.sql
    .select({
      roundId: oracleRound.roundId,
      answer: oracleRound.answer,
      updatedAt: oracleRound.updatedAt,
    })
    .from(oracleRound)
    .where(
      and(
        eq(oracleRound.asset, asset),
        gte(oracleRound.roundId, first),
        lt(oracleRound.roundId, first + PHASE_ROUNDS),
      ),
    )
    .orderBy(desc(oracleRound.roundId))
    .limit(1);
  const { roundId = null, answer = null } = newest ?? {};
  await db.insert(oraclePhase).values(rowAt(event, { asset, phase, roundId, answer })).onConflictDoNothing();
  const feed = { phase, roundId: null, answer: null, updatedAt: null, ...newest };
  return db
    .insert(oracleFeed)
    .values({ asset, ...feed })
    .onConflictDoUpdate(feed);
}

/** The feed's state at a log; null for an asset without a feed, or before its first phase. */
async function feedAt(db: Db, feed: IndexedPriceFeed, event: LogEvent): Promise<Feed | null> {
  const row = await db.find(oracleFeed, { asset: feed.asset });
  const begun = feed.phases.filter(({ since }) => since !== null && since <= event.block.number);
  const phase = Math.max(row?.phase ?? -1, ...begun.map((known) => known.phase));
  if (phase < 0 || row?.phase === phase) return row;
  return beginPhase(db, event, feed.asset, phase);
}

type Answer = LogEvent & { args: { current: bigint; roundId: bigint; updatedAt: bigint } };

/** Records a round of an aggregator, in each phase that has this aggregator. */
export async function recordRound(db: Db, event: Answer): Promise<void> {
  const { current: answer, roundId: round, updatedAt } = event.args;
  const aggregator = event.log.address.toLowerCase();
  for (const feed of prices) {
    for (const { phase } of feed.phases.filter((known) => known.aggregator === aggregator)) {
      // No round id of the feed names it.
      if (round > (phase === 0 ? MAX_UINT80 : PHASE_ROUNDS - 1n)) continue;
      const { asset } = feed;
      const roundId = BigInt(phase) * PHASE_ROUNDS + round;
      // Before the insert: a phase that this log begins has no earlier answer of its own.
      const state = await feedAt(db, feed, event);
      await db
        .insert(oracleRound)
        .values(rowAt(event, { asset, roundId, phase, answer, updatedAt }))
        .onConflictDoNothing();
      if (state?.phase === phase) await db.update(oracleFeed, { asset }).set({ roundId, answer, updatedAt });
    }
  }
}

/** Begins the phase that a proxy announces. Until a launch lists its aggregator, its rounds are unknown. */
export async function confirmPhase(db: Db, event: LogEvent & { args: { latest: Hex } }): Promise<void> {
  const latest = event.args.latest.toLowerCase();
  const feed = prices.find(({ proxy }) => proxy === event.log.address.toLowerCase());
  if (!feed?.phases.some(({ phase }) => phase > 0)) return;
  const current = (await feedAt(db, feed, event))?.phase ?? 0;
  if (feed.phases.some(({ phase, aggregator }) => phase === current && aggregator === latest)) return;
  const listed = feed.phases.find(({ phase, aggregator }) => phase > current && aggregator === latest);
  await beginPhase(db, event, feed.asset, listed?.phase ?? current + 1);
}
