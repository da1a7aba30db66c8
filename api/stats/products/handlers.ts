import type { Api } from "../../http/env.ts";
import type { Period } from "../../http/paging.ts";
import type { StatsParts } from "../stats-parts.ts";
import { productStatsBody } from "./body.ts";
import { readFiguresOfPeriod, readProductFigures } from "./queries.ts";
import { productStatsRoute } from "./routes.ts";

export function addProductStatsRoute(app: Api, { index, responses }: StatsParts): void {
  const productStats = responses.define(
    (period: Period) =>
      index.read(async (db, asOf) => {
        const now = asOf.then(({ timestamp }) => timestamp);
        const isOfAllTime = period.from === undefined && period.to === undefined;
        return isOfAllTime ? readProductFigures(db, now) : readFiguresOfPeriod(db, period, await now);
      }),
    (products) => productStatsBody(products),
  );
  app.openapi(productStatsRoute, async (c) =>
    responses.send(c, await productStats(c.req.valid("query")), productStatsRoute),
  );
}
