import { getAddress } from "viem";
import type { Api } from "../http/env.ts";
import { decimalOrNull } from "../http/field-types.ts";
import { cursorOf, cutPage, type FeedPage, type Period } from "../http/paging.ts";
import { pageRows } from "../indexed/feed.ts";
import { type ActivityFilter, readActivity } from "./activity.ts";
import { addMaturityRoutes } from "./bonds/handlers.ts";
import { addBurnerRoutes } from "./burners/handlers.ts";
import { burnStatsBody } from "./burns-body.ts";
import { addClaimsRoute } from "./claims/handlers.ts";
import { addCoverRoute } from "./cover/handlers.ts";
import { addHolderRoutes } from "./holders/handlers.ts";
import { addKeeperRoutes } from "./keeper/handlers.ts";
import { addMarketRoutes } from "./market/handlers.ts";
import { addPauseRoutes } from "./pauses/handlers.ts";
import { readPricePoints } from "./price-points.ts";
import { addPriceRoutes } from "./prices/handlers.ts";
import { addProductStatsRoute } from "./products/handlers.ts";
import { countOpenPolicies, readBurnDays, readBurnSources, readProtocolSums } from "./queries.ts";
import { addQueueRoutes } from "./queue/handlers.ts";
import {
  activityRoute,
  burnStatsRoute,
  PRICE_RANGES,
  priceHistoryRoute,
  protocolStatsRoute,
} from "./routes.ts";
import { addSeriesRoute } from "./series/handlers.ts";
import type { StatsParts } from "./stats-parts.ts";
import { addVaultRoutes } from "./vault/handlers.ts";

/** The token's supply before any burn: 100 million, 18 decimals. */
const TOKEN_SUPPLY = 100_000_000n * 10n ** 18n;

type PricePage = FeedPage & { readonly range?: keyof typeof PRICE_RANGES | undefined };

/** The range of a price history for which none was asked. */
const rangeOf = ({ range, from, to }: PricePage) =>
  range ?? (from === undefined && to === undefined ? "30d" : "all");

/** The later one of two times, Unix seconds; null stands for the beginning. */
const later = (a: bigint | null, b: bigint | null) => (a === null || (b !== null && b > a) ? b : a);

/** Every statistic. Each subject has a folder; those of this file have their parts beside it. */
export function addStatsRoutes(app: Api, parts: StatsParts): void {
  addSummaryRoutes(app, parts);
  addCoverRoute(app, parts);
  addProductStatsRoute(app, parts);
  addSeriesRoute(app, parts);
  addClaimsRoute(app, parts);
  addVaultRoutes(app, parts);
  addMaturityRoutes(app, parts);
  addQueueRoutes(app, parts);
  addHolderRoutes(app, parts);
  addMarketRoutes(app, parts);
  addBurnerRoutes(app, parts);
  addPauseRoutes(app, parts);
  addPriceRoutes(app, parts);
  addKeeperRoutes(app, parts);
}

/** The protocol's sums, the activity feed, and the token's price history. */
function addSummaryRoutes(app: Api, { index, responses }: StatsParts): void {
  const burnStats = responses.define(
    (_: Period) =>
      index.read(async (db) => {
        const [sums, days, sources] = await Promise.all([
          readProtocolSums(db),
          readBurnDays(db),
          readBurnSources(db),
        ]);
        return { sums, days, sources };
      }),
    (rows, period, { timestamp }) => burnStatsBody(rows, period, timestamp),
  );
  app.openapi(burnStatsRoute, async (c) =>
    responses.send(c, await burnStats(c.req.valid("query")), burnStatsRoute),
  );

  const protocolStats = responses.define(
    (_: null) =>
      index.read((db, asOf) =>
        Promise.all([readProtocolSums(db), asOf.then(({ timestamp }) => countOpenPolicies(db, timestamp))]),
      ),
    ([sums, open]) => {
      const burned = sums?.tokenBurned ?? 0n;
      return {
        active_policies: open,
        policies_total: sums?.policies ?? 0,
        policies_triggered: sums?.triggered ?? 0,
        coverage_total: String(sums?.coverage ?? 0),
        bonds_outstanding_usd: String(sums?.bondsOutstanding ?? 0),
        bonds_queued_usd: String(sums?.bondsQueued ?? 0),
        total_premium_collected: String(sums?.premium ?? 0),
        marketplace_volume_total: String(sums?.marketVolume ?? 0),
        marketplace_sales: sums?.sales ?? 0,
        active_listings: sums?.activeListings ?? 0,
        token_total_burned: String(burned),
        token_circulating: String(TOKEN_SUPPLY - burned),
      };
    },
  );
  app.openapi(protocolStatsRoute, async (c) =>
    responses.send(c, await protocolStats(null), protocolStatsRoute),
  );

  const activity = responses.define(
    (query: ActivityFilter & FeedPage) => index.rows((db) => readActivity(db, query)),
    (found, { limit }) => {
      const { rows, next } = cutPage(pageRows(found), limit, cursorOf);
      const events = rows.map((event) => ({
        type: event.type,
        actor: getAddress(event.actor),
        amount: String(event.amount),
        ref: event.ref,
        tx_hash: event.txHash,
        block_number: String(event.blockNumber),
        block_timestamp: String(event.blockTimestamp),
        log_index: event.logIndex,
      }));
      return { events, count: events.length, next_cursor: next };
    },
  );
  app.openapi(activityRoute, async (c) =>
    responses.send(c, await activity(c.req.valid("query")), activityRoute),
  );

  const priceHistory = responses.define(
    (page: PricePage) => index.rows((db) => readPricePoints(db, PRICE_RANGES[rangeOf(page)], page)),
    (found, page, asOf) => {
      const { rows, next } = cutPage(pageRows(found), page.limit, cursorOf);
      const range = rangeOf(page);
      const seconds = PRICE_RANGES[range];
      const start = seconds === null ? null : asOf.timestamp > seconds ? asOf.timestamp - seconds : 0n;
      const points = rows.toReversed().map((point) => ({
        timestamp: String(point.blockTimestamp),
        price: String(point.effectivePrice),
        token_burned: String(point.tokenBurned),
        usdc_spent: String(point.usdcSpent),
        source: "twap_burner" as const,
        tx_hash: point.txHash,
        block_number: String(point.blockNumber),
        log_index: point.logIndex,
      }));
      return {
        range,
        from: decimalOrNull(later(start, page.from ?? null)),
        count: points.length,
        points,
        next_cursor: next,
      };
    },
  );
  app.openapi(priceHistoryRoute, async (c) =>
    responses.send(c, await priceHistory(c.req.valid("query")), priceHistoryRoute),
  );
}
