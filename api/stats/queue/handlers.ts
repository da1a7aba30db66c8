import { getAddress } from "viem";
import { usdcOfVault, WEEK_SECONDS } from "../../../lib/vault-units.ts";
import type { Api } from "../../http/env.ts";
import { decimalOrNull } from "../../http/field-types.ts";
import { cutPage } from "../../http/paging.ts";
import type { IndexReader } from "../../indexed/reader.ts";
import type { StatsParts } from "../stats-parts.ts";
import { currentTokenPrice, readEventPrice, tokenPriceBody } from "../token-price.ts";
import { readVault } from "../vault/queries.ts";
import { type QueuePage, readEarlier, readQueue, readWaiting, readWeek } from "./queries.ts";
import { queueStatsRoute } from "./routes.ts";
import { paidInTheirWeek, throttleAt, type WaitingEntry } from "./throttle.ts";

/** Reads the queue and what its payment depends on, in one snapshot. */
const readAll = (index: IndexReader, page: QueuePage) =>
  index.read(async (db, asOf) => {
    const now = asOf.then(({ timestamp }) => timestamp);
    const [earlier, found, vault, named, waiting, week] = await Promise.all([
      readEarlier(db, page),
      readQueue(db, page),
      readVault(db),
      readEventPrice(db),
      now.then((time) => readWaiting(db, time)),
      now.then((time) => readWeek(db, time)),
    ]);
    return { earlier, found, vault, named, waiting, week };
  });

const startOf = (week: bigint) => String(week * WEEK_SECONDS);

export function addQueueRoutes(app: Api, { index, responses, chain }: StatsParts): void {
  const queue = responses.define(
    (page: QueuePage) => readAll(index, page),
    async ({ earlier, found, vault, named, waiting, week }, { limit }, asOf) => {
      const price = await currentTokenPrice(chain, named, asOf);
      const { rows, next } = cutPage(found, limit, ({ queueId }) => String(queueId));
      const { reserve } = vault;
      const now = asOf.timestamp;
      const throttle = throttleAt(now, reserve, week, price?.price);
      const situation = price && { now, redeemed: week.redeemed, reserve, price: price.price };
      const paid = situation ? paidInTheirWeek([...earlier, ...rows], situation) : new Set();
      const isStranded = ({ targetEpoch }: WaitingEntry) => targetEpoch < throttle.week;
      // Entries of other weeks are paid from other caps.
      const ahead = new Map<bigint, bigint>();
      const count = ({ targetEpoch, usdAmount }: WaitingEntry) =>
        ahead.set(targetEpoch, (ahead.get(targetEpoch) ?? 0n) + usdAmount);
      for (const entry of earlier) count(entry);
      const entries = rows.map((row) => {
        const entry = {
          queue_id: String(row.queueId),
          status: isStranded(row) ? ("stranded" as const) : ("queued" as const),
          holder: getAddress(row.holder),
          epoch_id: String(row.epochId),
          usd_amount: String(row.usdAmount),
          ahead_usd: String(isStranded(row) ? 0n : (ahead.get(row.targetEpoch) ?? 0n)),
          target_week: String(row.targetEpoch),
          payable_from: startOf(row.targetEpoch),
          expected_from: paid.has(row.queueId) ? startOf(row.targetEpoch) : null,
          tx_hash: row.txHash,
          block_number: String(row.blockNumber),
          block_timestamp: String(row.blockTimestamp),
          log_index: row.logIndex,
        };
        count(row);
        return entry;
      });
      return {
        entries,
        count: entries.length,
        next_cursor: next,
        waiting: {
          entries: waiting.entries,
          usd: String(waiting.usd),
          due_usd: String(waiting.dueUsd),
        },
        throttle: {
          week: String(throttle.week),
          ends_at: startOf(throttle.week + 1n),
          limit_token: String(throttle.limit),
          paid_token: String(throttle.paid),
          left_token: String(throttle.left),
          left_usdc: decimalOrNull(throttle.leftDollars === null ? null : usdcOfVault(throttle.leftDollars)),
        },
        token_price: tokenPriceBody(price, asOf),
      };
    },
  );
  app.openapi(queueStatsRoute, async (c) =>
    responses.send(c, await queue(c.req.valid("query")), queueStatsRoute),
  );
}
