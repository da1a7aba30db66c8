import type { Api } from "../../http/env.ts";
import { readProductSums } from "../products/queries.ts";
import type { StatsParts } from "../stats-parts.ts";
import { coverBody } from "./body.ts";
import { readOpenCover } from "./queries.ts";
import { coverRoute } from "./routes.ts";

export function addCoverRoute(app: Api, { index, responses }: StatsParts): void {
  const cover = responses.define(
    (_: null) =>
      index.read((db, asOf) =>
        Promise.all([asOf.then(({ timestamp }) => readOpenCover(db, timestamp)), readProductSums(db)]),
      ),
    ([open, products]) => coverBody(open, products),
  );
  app.openapi(coverRoute, async (c) => responses.send(c, await cover(null), coverRoute));
}
