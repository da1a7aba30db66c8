import type { Api } from "../../http/env.ts";
import { readOpenCover } from "../cover/queries.ts";
import type { StatsParts } from "../stats-parts.ts";
import { productStatsBody } from "./body.ts";
import { readProductSums } from "./queries.ts";
import { productStatsRoute } from "./routes.ts";

export function addProductStatsRoute(app: Api, { index, responses }: StatsParts): void {
  const productStats = responses.define(
    (_: null) =>
      index.read((db, asOf) =>
        Promise.all([readProductSums(db), asOf.then(({ timestamp }) => readOpenCover(db, timestamp))]),
      ),
    ([products, open]) => productStatsBody(products, open),
  );
  app.openapi(productStatsRoute, async (c) => responses.send(c, await productStats(null), productStatsRoute));
}
