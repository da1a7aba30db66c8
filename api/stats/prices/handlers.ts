import { MAX_PRICE_AGE } from "../../../lib/price-rules.ts";
import { assetBytes32, assetSymbols } from "../../../lib/products.ts";
import type { Api } from "../../http/env.ts";
import { decimalOrNull } from "../../http/field-types.ts";
import type { StatsParts } from "../stats-parts.ts";
import { currentTokenPrice, readEventPrice, tokenPriceBody } from "../token-price.ts";
import { readPriceSteps } from "./history-queries.ts";
import { type AssetPriceQuery, assetPriceHistoryRoute, assetPriceRanges } from "./history-routes.ts";
import { readFeeds } from "./queries.ts";
import { pricesRoute } from "./routes.ts";

export function addPriceRoutes(app: Api, { index, responses, chain }: StatsParts): void {
  const prices = responses.define(
    (_: null) => index.read((db) => Promise.all([readFeeds(db), readEventPrice(db)])),
    async ([feeds, named], _, asOf) => ({
      feeds: assetSymbols.map((symbol) => {
        const asset = assetBytes32(symbol);
        const feed = feeds.find((row) => row.asset === asset);
        const { answer = null, updatedAt = null, roundId = null } = feed ?? {};
        const age = updatedAt === null ? null : Number(asOf.timestamp - updatedAt);
        return {
          symbol,
          asset,
          answer: decimalOrNull(answer),
          round_id: decimalOrNull(roundId),
          updated_at: decimalOrNull(updatedAt),
          age_seconds: age,
          fresh: answer !== null && answer > 0n && age !== null && age <= MAX_PRICE_AGE,
        };
      }),
      token: tokenPriceBody(await currentTokenPrice(chain, named, asOf), asOf),
    }),
  );
  app.openapi(pricesRoute, async (c) => responses.send(c, await prices(null), pricesRoute));

  const history = responses.define(
    ({ asset, range }: AssetPriceQuery) =>
      index.read(async (db, asOf) => {
        const { seconds, step } = assetPriceRanges[range];
        // Steps begin at multiples of their length: without a new round the answer stays the same for a step.
        const to = ((await asOf).timestamp / step + 1n) * step;
        const from = to > seconds ? to - seconds : 0n;
        return { from, to, step, points: await readPriceSteps(db, asset, { from, to, step }) };
      }),
    ({ from, to, step, points }, { asset, range }) => ({
      ...{ asset, range, from: String(from), to: String(to), step_seconds: Number(step) },
      count: points.length,
      points: points.map(({ updated_at, price, lowest, highest, rounds }) => ({
        timestamp: String(updated_at),
        price: String(price),
        lowest: String(lowest),
        highest: String(highest),
        rounds,
      })),
    }),
  );
  app.openapi(assetPriceHistoryRoute, async (c) =>
    responses.send(c, await history(c.req.valid("query")), assetPriceHistoryRoute),
  );
}
