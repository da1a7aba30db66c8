import { getAddress } from "viem";
import type { Api } from "../../http/env.ts";
import { decimalOrNull } from "../../http/field-types.ts";
import { cutPage } from "../../http/paging.ts";
import type { IndexReader } from "../../indexed/reader.ts";
import type { StatsParts } from "../stats-parts.ts";
import { readTokenPrice, tokenPriceBody } from "../token-price.ts";
import { readVault } from "../vault/queries.ts";
import { type QueuePage, readEarlier, readQueue, readWaiting, readWeek } from "./queries.ts";
import { queueStatsRoute } from "./routes.ts";
import { paymentWeeks, SECONDS_PER_WEEK, throttleAt, type WaitingEntry } from "./throttle.ts";

/** Tokens and prices have 18 decimals, USDC 6. */
const TOKEN_PRICE_TO_USDC = 10n ** 30n;

/** Reads the queue and what its payment depends on, in one snapshot. */
const readAll = (index: IndexReader, page: QueuePage) =>
  index.read(async (db, asOf) => {
    const now = asOf.then(({ timestamp }) => timestamp);
    const [earlier, found, vault, price, waiting, week] = await Promise.all([
      readEarlier(db, page),
      readQueue(db, page),
      readVault(db),
      readTokenPrice(db),
      now.then((time) => readWaiting(db, time)),
      now.then((time) => readWeek(db, time)),
    ]);
    return { earlier, found, vault, price, waiting, week };
  });

const total = (entries: readonly WaitingEntry[]) =>
  entries.reduce((sum, { usdAmount }) => sum + usdAmount, 0n);

const startOf = (week: bigint) => String(week * SECONDS_PER_WEEK);

export function addQueueRoutes(app: Api, { index, responses }: StatsParts): void {
  const queue = responses.define(
    (page: QueuePage) => readAll(index, page),
    ({ earlier, found, vault, price, waiting, week }, { limit }, asOf) => {
      const { rows, next } = cutPage(found, limit, ({ queueId }) => String(queueId));
      const throttle = throttleAt(asOf.timestamp, vault.reserve, week);
      const weeks = price ? paymentWeeks([...earlier, ...rows], throttle, price.price) : [];
      let ahead = total(earlier);
      const entries = rows.map((row, place) => {
        const paidIn = weeks[earlier.length + place] ?? null;
        const entry = {
          queue_id: String(row.queueId),
          holder: getAddress(row.holder),
          epoch_id: String(row.epochId),
          usd_amount: String(row.usdAmount),
          ahead_usd: String(ahead),
          target_week: String(row.targetEpoch),
          payable_from: startOf(row.targetEpoch),
          expected_from: paidIn === null ? null : startOf(paidIn),
          tx_hash: row.txHash,
          block_number: String(row.blockNumber),
          block_timestamp: String(row.blockTimestamp),
          log_index: row.logIndex,
        };
        ahead += row.usdAmount;
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
          left_usdc: decimalOrNull(price ? (throttle.left * price.price) / TOKEN_PRICE_TO_USDC : null),
        },
        token_price: tokenPriceBody(price, asOf),
      };
    },
  );
  app.openapi(queueStatsRoute, async (c) =>
    responses.send(c, await queue(c.req.valid("query")), queueStatsRoute),
  );
}
